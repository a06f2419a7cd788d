"""Shapley values of the predicted mean between two configurations, exactly, in any dimension.

Gaussian process: a coalition's mean is a sum over data of products over columns, integrated as in
product_kernel.py with the source's factors in the place of averages.

Additive process: effects are products over at most three columns, see additive/weights.py.

Forest: a leaf is reached by the coalitions that hold all of its p columns on which only the target
agrees with it, and none of the q on which only the source does. Of a leaf with value v each of the
former has v (p - 1)! q! / (p + q)!, each of the latter -v p! (q - 1)! / (p + q)!.

Where parameters are conditional their values depend on the coalition; that is left to attribution.py.
"""

from math import comb
from typing import Any

import numpy as np

from hyperlens.explain.models.curves import Predictor
from hyperlens.explain.shapley.product_kernel import nodes, without_each
from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.random_forest.forest import Forest


def mean_between(
    model: Predictor, cube: Cube, source: FloatArray, target: FloatArray
) -> FloatArray | None:
    """What each column's change does to the mean (d,); None where there is no closed form."""
    if cube.conditions:
        return None
    if isinstance(model, Additive):
        return model.weights.between(source, target)
    if isinstance(model, GP):
        return _process(model, source, target)
    if isinstance(model, Forest):
        return _forest(model, source, target)
    return None


def _process(model: GP, source: FloatArray, target: FloatArray) -> FloatArray:
    changed = np.flatnonzero(source != target).tolist()
    t, weight = nodes(len(changed))
    same = np.ones(len(model.X))
    before, after = [], []
    for j, factor in enumerate(model.factors):
        if j in changed:
            before.append(factor.value(source[j], model.X[:, j]))
            after.append(factor.value(target[j], model.X[:, j]))
        else:
            same = same * factor.value(source[j], model.X[:, j])
    mixed = [b + t[:, None] * (a - b) for b, a in zip(before, after, strict=True)]
    scale = (1 - model.parameters.nugget) * same * model.beta
    phi = np.zeros(len(source))
    for j, b, a, others in zip(changed, before, after, without_each(mixed), strict=True):
        path = np.broadcast_to((a - b) * others, (len(t), len(scale)))
        phi[j] = weight @ (path @ scale)
    return phi


def _forest(model: Forest, source: FloatArray, target: FloatArray) -> FloatArray:
    first, second = model.encoding.apply(np.array([source, target]))
    axis_of = model.encoding.columns[:, 0]
    phi = np.zeros(len(source))
    for estimator in model.estimators:
        _tree(estimator.tree_, first, second, axis_of, phi)
    return phi / len(model.estimators)


def _tree(tree: Any, source: Any, target: Any, axis_of: Any, phi: FloatArray) -> None:
    """Add the values of one tree: down from the root, parting where the two disagree."""
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    feature, threshold = tree.feature.tolist(), tree.threshold.tolist()
    value = tree.value[:, 0, 0].tolist()
    axes, before, after = axis_of.tolist(), source.tolist(), target.tolist()
    stack: list[tuple[int, dict[int, bool]]] = [(0, {})]  # node, who is decided: True has joined
    while stack:
        node, joined = stack.pop()
        if left[node] < 0:
            inside = [j for j, has in joined.items() if has]
            outside = [j for j, has in joined.items() if not has]
            p, q = len(inside), len(outside)
            for j in inside:  # v (p - 1)! q! / (p + q)!
                phi[j] += value[node] / (p * comb(p + q, q))
            for j in outside:  # -v p! (q - 1)! / (p + q)!
                phi[j] -= value[node] / (q * comb(p + q, p))
            continue
        column, cut = feature[node], threshold[node]
        a = left[node] if before[column] <= cut else right[node]
        b = left[node] if after[column] <= cut else right[node]
        axis = axes[column]
        if a == b:
            stack.append((a, joined))
        elif axis in joined:
            stack.append((b if joined[axis] else a, joined))
        else:
            stack.append((a, {**joined, axis: False}))
            stack.append((b, {**joined, axis: True}))
