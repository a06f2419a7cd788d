"""How everything in a report was computed, a paragraph for each kind of card."""

from __future__ import annotations

from hyperlens.explain.effects.effect import NEARLY, Effect
from hyperlens.explain.effects.regions import Regions
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.interactions import Interactions
from hyperlens.explain.run.bias import Bias
from hyperlens.reports.analysis import Analysis
from hyperlens.words import SURROGATES, counted, percent


def how_it_was_done(analysis: Analysis) -> tuple[str, ...]:
    """What was computed and how, one paragraph for each kind of card."""
    text = [
        "All averages and shares are over the whole search space, uniform on its scales: a "
        "parameter searched on a logarithmic scale counts uniformly in its logarithm."
    ]
    if isinstance(analysis.importance, Importance):
        made = analysis.importance
        text.append(
            f"Importance is functional ANOVA (Hutter et al. 2014), exact, up to interactions of "
            f"{counted(made.order, 'parameter')}, on {counted(made.trials, 'trial')}. The shares are "
            f"those of the {SURROGATES[made.surrogate]}"
            + (f" of {made.trees} trees" if made.surrogate == "forest" else "")
            + (
                ", which cross-validates better than the other surrogate."
                if made.witness_name
                else "."
            )
        )
    shown = [e for e in (*analysis.effects, *analysis.pairs) if isinstance(e, Effect)]
    if shown:
        how = {
            "pointwise": "how unsure a single prediction is, on average",
            "joint": "how unsure the average itself is",
        }[shown[0].band]
        surrogate = SURROGATES.get(shown[0].surrogate, shown[0].surrogate)
        text.append(
            f"Effects are partial dependence of a {surrogate} with confidence bands "
            f"(Moosbauer et al. 2021); the {shown[0].band} band shows {how}. A value is nearly as "
            f"good as the best where the mean differs by at most {percent(NEARLY)} of its whole "
            "change."
        )
    if any(isinstance(r, Regions) for r in analysis.regions):
        text.append(
            "Regions split the space by rules on the other parameters so that the uncertainty of an "
            "effect is alike within each (Moosbauer et al. 2021)."
        )
    if isinstance(analysis.bias, Bias):
        text.append(
            "Distance from an even search is the maximum mean discrepancy (MMD) between the evaluated "
            "configurations and as many drawn evenly; its p-value is from permutations."
        )
    if isinstance(analysis.interactions, Interactions):
        text.append("H is Friedman's, exact from the functional ANOVA of the surrogate.")
    if analysis.qualities:
        text.append(
            "Each surrogate was cross-validated: R² and rank correlation compare its predictions "
            "with trials it had not seen, coverage is how often its band held them."
        )
    return tuple(text)
