"""A search over models in plain words."""

from __future__ import annotations

import math

from hyperlens.cash.story import ModelSearch

MOST_REASONS = 3
CLOSE = 0.02  # of the winner's cost: hardly a difference


def sentences(record: ModelSearch) -> tuple[str, ...]:
    """Who won, where the budget went and why, and what failed."""
    found = [*_winner(record), *_budget(record), *_failures(record)]
    return (*found, *record.notes)


def _winner(record: ModelSearch) -> list[str]:
    if not record.leaders:
        return []
    best = record.leaders[0]
    name = record.objective
    found = [f"{best.model} came first, with a {name} of {best.cost:.4g}."]
    others = [m for m in range(1, len(record.models)) if not math.isnan(record.best[m])]
    if others:
        second = others[0]
        gap = abs(record.best[second] - best.cost)
        near = gap <= CLOSE * abs(best.cost)
        found.append(
            f"The best of another model is {record.models[second]}'s, {record.best[second]:.4g}"
            + (
                ": hardly a difference, so the simpler or faster of the two will do."
                if near
                else "."
            )
        )
    return found


def _budget(record: ModelSearch) -> list[str]:
    whole = float(record.spent.sum())
    if not whole:
        return []
    most = int(record.spent.argmax())
    reason = {
        "weighted": f"a draw takes it with {record.weights[most]:.0%}, twice as often with each of "
        f"its {record.hyperparameters[most]} hyperparameters",
        "volume": f"a draw takes it with {record.weights[most]:.0%}, by the size of its space",
        "uniform": "all models are drawn alike, and it was promoted most",
    }.get(record.sampling, f"you gave it a weight of {record.weights[most]:.0%}")
    if record.optimizer == "smbo":
        reason = "the surrogate expected most of it"
    found = [
        f"{record.models[most]} got most of the budget, {record.spent[most] / whole:.0%} of "
        f"{whole:.4g} full evaluations: {reason}."
    ]
    if len(record.resources) > 1:
        drawn, last = int(record.reached[:, 0].sum()), int(record.reached[:, -1].sum())
        full = {
            m: int(record.reached[i, -1])
            for i, m in enumerate(record.models)
            if record.reached[i, -1]
        }
        told = ", ".join(f"{m} {n}" for m, n in sorted(full.items(), key=lambda x: -x[1]))
        found.append(
            f"Of {drawn} configurations, {last} were measured on all rows"
            + (f" ({told})." if told else ".")
        )
    unseen = [m for i, m in enumerate(record.models) if not record.reached[i, 0]]
    if unseen:
        found.append(f"Never drawn: {', '.join(unseen)}; a larger budget would reach them.")
    return found


def _failures(record: ModelSearch) -> list[str]:
    failed = int(record.failed.sum())
    if not failed:
        return []
    told = "; ".join(f"{n} x {reason}" for reason, n in list(record.reasons.items())[:MOST_REASONS])
    more = "; ..." if len(record.reasons) > MOST_REASONS else ""
    each = "evaluation" if failed == 1 else "evaluations"
    return [f"{failed} {each} failed and count as worst: {told}{more}."]
