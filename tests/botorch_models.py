"""BoTorch's own models as surrogates, for `make botorch`: its packages are too large for every test."""

from __future__ import annotations

import botorch
import gpytorch
import numpy as np
import pytest
import torch

import hyperlens as hl

SPACE = hl.Space.of([hl.Parameter("x", "float", -1.0, 1.0), hl.Parameter("y", "float", 0.0, 1.0)])


def study(n: int = 30) -> hl.History:
    rng = np.random.default_rng(0)
    values = [
        {"x": float(x), "y": float(y)} for x, y in zip(*rng.uniform(0, 1, (2, n)), strict=True)
    ]
    trials = [hl.Trial(k, v, (3 * v["x"] ** 2 + v["y"],)) for k, v in enumerate(values)]
    return hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))


@pytest.fixture(scope="module")
def fitted() -> tuple[hl.History, botorch.models.SingleTaskGP]:
    history = study()
    X = torch.tensor(history.vectors, dtype=torch.float64)
    y = torch.tensor([[t.costs[0]] for t in history.trials], dtype=torch.float64)
    model = botorch.models.SingleTaskGP(X, y)
    botorch.fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
    return history, model


def test_an_effect_is_the_average_of_the_posterior_mean(
    fitted: tuple[hl.History, botorch.models.SingleTaskGP],
) -> None:
    history, model = fitted
    found = hl.effect(history, "x", surrogate=model, grid=5)
    others = torch.linspace(0, 1, 401, dtype=torch.float64)
    with torch.no_grad():
        averages = [
            float(model.posterior(torch.stack([torch.full_like(others, z), others], 1)).mean.mean())
            for z in np.linspace(0, 1, 5)
        ]
    np.testing.assert_allclose(found.mean, averages, atol=0.02)
    inside = np.array(found.values[0], dtype=float) >= 0  # where the trials are
    np.testing.assert_allclose(
        found.mean[inside] - found.mean[inside][0],
        3 * np.array(found.values[0], dtype=float)[inside] ** 2,
        atol=0.1,
    )
    assert (found.low <= found.mean).all()


def test_regions_ask_it_too(fitted: tuple[hl.History, botorch.models.SingleTaskGP]) -> None:
    history, model = fitted
    found = hl.regions(history, "y", surrogate=model, levels=1)
    assert found.sentence


def test_the_standard_deviation_is_that_of_the_posterior(
    fitted: tuple[hl.History, botorch.models.SingleTaskGP],
) -> None:
    from hyperlens.explain.models.adapters import adapted

    _, model = fitted
    X = np.array([[0.25, 0.5], [0.9, 0.1]])
    mean, std = adapted(model).predict(X)
    with torch.no_grad():
        posterior = model.posterior(torch.tensor(X))
    np.testing.assert_allclose(mean, posterior.mean.ravel())
    np.testing.assert_allclose(std**2, posterior.variance.ravel())
