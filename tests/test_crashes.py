"""A run that is killed at any write to its storage goes on as if it had not been."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import optuna
import pytest
from crashes import OPTIMIZERS, SPACE, Killed, aftermath, cost, mortal, run, shape
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState

import hyperlens as hl
from hyperlens.optimize.storage import leases
from hyperlens.proposal import LEASE, TWIN

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_killed_at_any_write_it_goes_on(optimizer: str) -> None:
    counting = mortal(InMemoryStorage())
    whole = run(counting, optimizer)
    assert counting.written > 2 * len(whole.trials)
    for writes in range(counting.written):
        left = aftermath(whole, InMemoryStorage(), optimizer, (writes,))
        assert left.sound, (writes, left)


@pytest.mark.parametrize("optimizer", ["hyperband", "asha"])
def test_killed_again_and_again_it_still_ends(optimizer: str) -> None:
    whole = run(InMemoryStorage(), optimizer)
    kills = (9, 11, 8, 13, 10, 12, 9, 8)  # few enough for a trial: five make it a failure
    left = aftermath(whole, InMemoryStorage(), optimizer, kills)
    assert left.sound, left


def test_a_study_that_an_earlier_release_left_damaged_is_repaired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A paused trial that was taken, but not yet by anybody; one withdrawn, but not yet ended."""
    monkeypatch.setattr(leases, "NAMELESS", 0.0)
    storage, whole = InMemoryStorage(), run(InMemoryStorage(), "asha")
    with pytest.raises(Killed):
        run(mortal(storage, 30), "asha")
    waiting = [t for t in storage.get_all_trials(0) if t.state is TrialState.WAITING]
    assert waiting
    for trial in waiting:
        storage.set_trial_system_attr(trial._trial_id, LEASE, {"paused": True})
        storage.set_trial_state_values(trial._trial_id, TrialState.RUNNING)
    twin = storage.create_new_trial(0, template_trial=waiting[0])
    storage.set_trial_user_attr(twin, TWIN, waiting[0].number)
    assert shape(run(storage, "asha")) == shape(whole)
    assert all(t.state.is_finished() for t in storage.get_all_trials(0))


# Several commands at once: each looks what is there, then all begin


@pytest.mark.parametrize("optimizer", ["random", "hyperband", "asha"])
def test_commands_on_one_storage_share_the_work(optimizer: str) -> None:
    """Threads, each with a run of its own; what they did together is what one does alone."""
    storage, whole = InMemoryStorage(), run(InMemoryStorage(), optimizer)
    with ThreadPoolExecutor(3) as commands:
        ends = [commands.submit(run, mortal(storage), optimizer) for _ in range(3)]
        found = [end.result(timeout=60) for end in ends]
    assert all(t.state.is_finished() for t in storage.get_all_trials(0))
    assert shape(found[-1]) == shape(whole) or optimizer == "asha"
    assert max(Counter((t.values["x"], t.budget) for t in found[-1].trials).values()) == 1


@pytest.mark.parametrize("optimizer", ["halving", "hyperband", "asha"])
def test_more_trials_than_before_go_on(optimizer: str) -> None:
    storage = InMemoryStorage()
    seen: list[tuple[float, float]] = []

    def watched(values: Mapping[str, Any], budget: float) -> float:
        seen.append((values["x"], budget))
        return cost(values, budget)

    few = hl.minimize(watched, SPACE, optimizer, 9, storage=storage)
    more = hl.minimize(watched, SPACE, optimizer, 18, storage=storage)
    assert more.trials[: len(few.trials)] == few.trials
    assert len(more.trials) > len(few.trials)
    assert len(seen) == len(set(seen))  # what was measured is not measured again
    assert all(t.state.is_finished() for t in storage.get_all_trials(0))
