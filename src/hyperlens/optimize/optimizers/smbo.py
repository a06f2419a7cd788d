"""Sequential model-based optimisation: fit a surrogate, minimise an acquisition, ask, be told.

The optimiser of Moosbauer et al. 2021 and Croppi 2021: a maximin Latin hypercube, then a Gaussian
process and the lower confidence bound, minimised by focus search. Their settings are
`tau=1, refine=False`; both are measured in docs/results/optimizers.md.

`ask` depends only on the seed, on what was told, in its order, and on what is still awaited. So a
run is resumed by telling its trials again, several configurations can be out at once, and a
proposal can be explained later: what was told by then and the proposal give back the surrogate that
made it (`surrogates.description.rebuild`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.knowledge.guesses import Guesses
from hyperlens.optimize.knowledge.known import as_known
from hyperlens.optimize.learning.learner import CostLearner
from hyperlens.optimize.learning.region import Region
from hyperlens.optimize.learning.repeating import repeats_pay
from hyperlens.optimize.learning.scoring import Scoring, predicted
from hyperlens.optimize.optimizers.beginning import Beginning
from hyperlens.optimize.optimizers.focus_search import Part, Point, Slope, focus_search
from hyperlens.optimize.optimizers.ledger import Result, Weigher
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.optimize.optimizers.settling import Settling
from hyperlens.optimize.optimizers.weighing import daring, joint, near, weighed
from hyperlens.proposal import Acquisition, Kind, Proposal
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.points import on_front, same
from hyperlens.spaces.space import GivenSpace, as_space
from hyperlens.surrogates.description import believe, describe
from hyperlens.surrogates.desirability import desirability
from hyperlens.surrogates.gaussian_process.gp import GP, SMALLEST_NUGGET
from hyperlens.surrogates.outcomes import Outcomes
from hyperlens.surrogates.protocol import SearchKind
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.surrogates.threads import one_thread

PAPERS = {"points": 1000, "polished": 0}  # of focus search
REFINED = {"points": 300, "polished": 6}
EXPLOITING = 0.1  # tau of every second proposal, unless one acquisition is chosen


class SMBO(Weigher):
    """Minimises a cost over a space. `ask()` for a configuration, `tell()` its cost.

    `acquisition` is "lcb", the bound mean - tau std, or "ei", the expected improvement; None takes
    turns between the expected improvement and a bound of tau 0.1, one to explore and one to exploit,
    unless `tau` is given, which means "lcb".

    `initial` configurations, by default four per parameter, come from a maximin Latin hypercube, or
    are the rows of `design` (vectors); results told before anything is asked take the place of its
    first rows. `nugget` None estimates the noise; 1e-8 says there is none. `refine=False` searches
    the acquisition's minimum by more points and does not polish them, as the papers did, nor takes
    data without noise for exact, draws bad costs nearer or stays near one of the best in every second
    proposal (optimize/learning). A configuration that was told before is proposed again only if nothing
    else is left, or, near one of the best, where costs are noisy and no parameter is continuous.

    `first` are configurations to try before all else. `prior` says what is thought good: by parameter a
    value, weights of choices or a distribution of scipy.stats. `learn_from` are earlier runs, of other
    spaces too as far as they have the same parameters. Each is part of the initial design, half of which
    stays even. Where a prior is all that is known and `initial` is not given, the design ends at half if
    the best so far is guessed, and early proposals stay near the guess while the best lies there.

    `explain` is the part of the trials after the initial design that is spent on making the effects of
    the parameters known over the whole space (Moosbauer et al. 2022), 0.3 for nearly a third.

    >>> from hyperlens import Parameter, Space
    >>> space = Space.of([Parameter("x", "float", -5, 5)])
    >>> optimiser = SMBO(space, nugget=1e-8)
    >>> for _ in range(15):
    ...     candidate = optimiser.ask()
    ...     optimiser.tell(candidate.values, (candidate.values["x"] - 1) ** 2)
    >>> round(optimiser.best.values["x"], 1)
    1.0
    """

    name = "smbo"

    def __init__(
        self,
        space: GivenSpace,
        *,
        tau: float | None = None,
        acquisition: Acquisition | None = None,
        initial: int | None = None,
        design: FloatArray | None = None,
        surrogate: SearchKind = "gp",
        nugget: float | None = None,
        refine: bool = True,
        explain: float = 0.0,
        first: Sequence[Mapping[str, Any]] | None = None,
        prior: Guesses | None = None,
        learn_from: History | Sequence[History] | None = None,
        seed: int = 0,
    ) -> None:
        if acquisition is None and tau is not None:
            acquisition = "lcb"
        tau = 1.0 if tau is None else tau
        if acquisition not in (*get_args(Acquisition), None):
            raise SpaceError(f"There is no acquisition '{acquisition}'; choose 'lcb' or 'ei'.")
        if surrogate not in get_args(SearchKind):
            raise SpaceError(f"There is no surrogate '{surrogate}'; choose 'gp' or 'forest'.")
        if not (np.isfinite(tau) and tau >= 0):
            raise SpaceError(f"tau is {tau}; choose a finite number of at least 0.")
        if nugget is not None and not SMALLEST_NUGGET <= nugget < 1:
            raise SpaceError(
                f"A nugget of {nugget} is not a part of the variance; choose a number from "
                f"{SMALLEST_NUGGET:g} to below 1, or None to estimate it."
            )
        if not 0 <= explain < 1:
            raise SpaceError(
                f"explain is {explain}; choose which part of the trials goes to the explanation, from 0 "
                "to below 1."
            )
        space = as_space(space)
        super().__init__(space, seed)
        self.tau, self.acquisition = tau, acquisition
        self.surrogate, self.nugget, self.refine = surrogate, nugget, refine
        self._beginning = Beginning(
            space,
            seed,
            initial,
            design,
            known=as_known(space, first, prior, learn_from),
            judging=acquisition is None,
        )
        self.explain = explain
        self._outcomes = Outcomes(self.X, np.empty((0, 1)), np.empty((0, 0)))
        self._learner = CostLearner(space.cube, surrogate, nugget, refine, seed)
        self._settling = Settling(space, explain, len(self.design), seed)

    @property
    def design(self) -> FloatArray:
        """The initial configurations as vectors."""
        return self._beginning.design

    @property
    def results(self) -> tuple[Result, ...]:
        """In the order in which they were told."""
        return tuple(self._ledger.results)

    @property
    def awaited(self) -> tuple[Candidate, ...]:
        """Candidates whose cost was not told yet."""
        return tuple(self._ledger.awaited)

    @property
    def X(self) -> FloatArray:
        """Vectors told, shape (n, d)."""
        return np.array([r.vector for r in self._ledger.results]).reshape(-1, len(self.space))

    @property
    def y(self) -> FloatArray:
        """Costs told (n,); a failed one counts as the worst of the others."""
        costs = np.array([r.cost for r in self._ledger.results])
        known = np.isfinite(costs)
        return np.where(known, costs, costs[known].max() if known.any() else 0.0)

    @property
    def outcomes(self) -> Outcomes:
        """All costs told, and all excesses over limits; a proposal asks several times for them."""
        results = self._ledger.results
        if len(self._outcomes.X) != len(results):  # results are only ever added
            costs, excess = zip(*((r.costs, r.excess) for r in results), strict=True)
            self._outcomes = Outcomes(self.X, np.array(costs), np.array(excess))
        return self._outcomes

    @property
    def best(self) -> Result | None:
        """The result with the smallest cost that keeps all limits, the earliest of equals; None before
        the first. Several objectives have a `front` instead."""
        if self.outcomes.objectives > 1:
            raise SpaceError("Several objectives have no best result; ask for the front.")
        known = [r for r, kept in zip(self.results, self.outcomes.feasible, strict=True) if kept]
        return min(known, key=lambda r: r.cost, default=None)

    @property
    def front(self) -> tuple[Result, ...]:
        """Results that keep all limits and that no other beats in all objectives."""
        rows = np.flatnonzero(self.outcomes.feasible)
        return tuple(self.results[k] for k in rows[on_front(self.outcomes.costs[rows])])

    def ask(self, number: int | None = None) -> Candidate:
        """The next configuration. It is awaited until its cost is told.

        `number` is for several optimisers of one seed that share their results: each number
        chooses by itself.
        """
        number = self._ledger.number if number is None else number
        rng = np.random.default_rng([self.seed, 1, number])
        if not self._beginning.ended(number, self._ledger.results, self.outcomes):
            candidate = self._unmodelled(number, "initial", self.design[number])
        elif not self._telling():
            candidate = self._unmodelled(number, "proposed", self.space.sample(1, rng)[0])
        else:
            with one_thread():  # the same bytes on any number of cores
                settling = self._settled(number) if self._settling.turn(number) else None
                modelled = self._modelled if self.outcomes.plain else self._weighed
                candidate = settling or modelled(number, rng)
        self._ledger.awaited.append(candidate)
        return candidate

    def _telling(self) -> bool:
        """Do results differ, in a cost, or, before a trial was of use, in what they exceed?"""
        known = self.outcomes
        columns = [*known.costs[~known.failed].T]
        if not known.feasible.any():
            columns += [excess[np.isfinite(excess)] for excess in known.excess.T]
        return any(len(set(column.tolist())) > 1 for column in columns)

    def _turn(self, number: int) -> tuple[Acquisition, float]:
        """The acquisition of a proposal, and its tau."""
        if self.acquisition is not None:
            return self.acquisition, self.tau
        return ("lcb", EXPLOITING) if self._refining(number) else ("ei", self.tau)

    def _refining(self, number: int) -> bool:
        """Does this proposal look near one of the best? Every second does, and each that trusts a prior,
        unless one acquisition is chosen."""
        return self.acquisition is None and (number % 2 == 1 or self._trusting(number))

    def _trusting(self, number: int) -> bool:
        return self._beginning.trusting(number, self._ledger.results, self.outcomes)

    def _unmodelled(self, number: int, kind: Kind, vector: FloatArray) -> Candidate:
        acquisition, tau = self._turn(number)
        about, guessed = self._beginning.origin(number), self._beginning.guessed(number)
        proposal = Proposal(kind, acquisition=acquisition, tau=tau, about=about, guessed=guessed)
        return self._candidate(number, self._rounded(vector), proposal)

    def _settled(self, number: int) -> Candidate | None:
        """A configuration for the sake of the explanation; None where nothing is left to try."""
        awaited = np.array([c.vector for c in self._ledger.awaited])
        vector = self._settling.choose(number, self._ledger.results, self.y, awaited)
        if vector is None:
            return None
        proposal = Proposal("confirm", about="importance")
        return self._candidate(number, self._rounded(vector), proposal)

    def _candidate(
        self,
        number: int,
        rounded: tuple[FloatArray, dict[str, Any]],
        proposal: Proposal,
        rows: IntArray | None = None,
    ) -> Candidate:
        """With the numbers of what was known and awaited."""
        told = [r.number for r in self._ledger.results]
        awaited = [c.number for c in self._ledger.awaited]
        candidate = Candidate(number, *rounded, proposal, rows)
        return replace(candidate, proposal=candidate.recorded(told, awaited))

    def _modelled(self, number: int, rng: np.random.Generator) -> Candidate:
        """One iteration: surrogate, minimum of the acquisition, and what is thought of it."""
        # The surrogate of what is known, and what there is to improve on
        acquisition, tau = self._turn(number)
        region = self._region(number)
        known, bend = self._learner.bent(self.outcomes.part(region.rows))
        model = self._fitted(known.X, known.costs[:, 0])
        best = float(model.predict(known.X)[0].min())
        score = Scoring(model, acquisition, tau, best)

        # The configuration of the smallest score
        slope = score.follow if isinstance(model, GP) else None
        again = self._refining(number) and repeats_pay(self.space.cube, model, self.X, self.y)
        found = self._search(score, rng, near(known, rng), region.parts, slope, again)
        vector, values = self._rounded(found.vector)

        # What the surrogate says there
        mean, std = model.predict(vector[None])
        bound, value = score.recorded(mean, std)
        name, parameters = describe(model)
        proposal = Proposal(
            kind="proposed",
            acquisition=acquisition,
            tau=tau,
            mean=float(mean[0]),
            std=float(std[0]),
            bound=bound,
            score=value,
            best=best,
            surrogate=name,
            surrogate_parameters=parameters | bend,
        )
        return self._candidate(number, (vector, values), proposal, region.rows)

    def _region(self, number: int) -> Region:
        """What a proposal learns from, not all trials for the explanation, and where it looks."""
        apart = self._settling.apart(self._ledger.results, self.y)
        rows = np.flatnonzero(~apart | (self.outcomes.objectives > 1))
        region = self._learner.region(self.outcomes.part(rows), self._refining(number))
        region = replace(region, rows=rows[region.rows])
        if not self._trusting(number):
            return region
        return replace(region, parts=self._beginning.near(region.parts))

    def _weighed(self, number: int, rng: np.random.Generator) -> Candidate:
        """One iteration where there are several costs, limits, or failures: a surrogate for each."""
        region = self._region(number)
        known, bend = self._learner.bent(self.outcomes.part(region.rows))
        awaited = np.array([c.vector for c in self._ledger.awaited])
        learner = self._learner
        model = joint(known, learner.cube, learner.fit, learner.starts, self.seed, awaited)
        wanted, tau = self._turn(number)
        if known.objectives > 1:  # one to explore and one to exploit here too
            wanted, tau = "ehvi", EXPLOITING if number % 2 else 1.0
        wish = desirability(known, model, wanted, tau, awaited)
        if not self._refining(number):
            wish = daring(self.outcomes, wish)

        def score(vectors: FloatArray) -> FloatArray:
            return wish.cost(*predicted(model, vectors))

        found = self._search(score, rng, near(known, rng), region.parts)
        vector, values = self._rounded(found.vector)
        proposal = weighed(known, model, wish, tau, vector)
        parameters = {**proposal.surrogate_parameters, **bend}
        proposal = replace(proposal, surrogate_parameters=parameters)
        return self._candidate(number, (vector, values), proposal, region.rows)

    def _fitted(self, X: FloatArray, y: FloatArray) -> GP | Forest:
        """The surrogate of what was told, which believes its own means of what is awaited."""
        awaited = np.array([c.vector for c in self._ledger.awaited])
        return believe(self._learner.fit(X, y), X, y, awaited)

    def _search(
        self,
        score: Callable[[FloatArray], FloatArray],
        rng: np.random.Generator,
        best: FloatArray,
        within: list[Part] | None = None,
        slope: Slope | None = None,
        again: bool = False,
    ) -> Point:
        """The minimum of the acquisition among what is neither forbidden nor awaited, nor, unless it may
        be measured again, known."""
        known = np.vstack(
            [self.X[: 0 if again else None], *(c.vector[None] for c in self._ledger.awaited)]
        )

        def barred(vectors: FloatArray) -> BoolArray:
            seen = np.array([same(known, v).any() for v in self._canonical(vectors)], dtype=bool)
            return np.asarray(seen | self.space.forbidden(vectors))

        how = REFINED if self.refine else PAPERS
        for bar in (barred, self.space.forbidden):  # where everything is known, what is best again
            point = focus_search(
                score,
                self.space.cube,
                rng,
                **how,
                near=best,
                barred=bar,
                within=within,
                slope=slope,
            )
            if point is not None:
                return point
        vector = self.space.sample(1, rng)[0]
        return Point(vector, float(score(vector[None])[0]))

    def _canonical(self, vectors: FloatArray) -> FloatArray:
        """Vectors as their values are encoded: integers with very many values lie on an axis
        without levels, and are rounded here."""
        return self.space.encode(self.space.decode(vectors))

    def _rounded(self, vector: FloatArray) -> tuple[FloatArray, dict[str, Any]]:
        values = self.space.decode(vector[None])[0]
        return self.space.encode([values])[0], values
