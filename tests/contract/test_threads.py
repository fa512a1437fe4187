"""Every learner fits in one thread: sums over several threads round differently."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType

from threadpoolctl import threadpool_info, threadpool_limits

from noisypairs.estimators import base

from .learners import build, every, problem


def most_threads() -> int:
    return max(pool["num_threads"] for pool in threadpool_info())


def test_one_thread_inside_and_as_many_as_before_outside():
    with threadpool_limits(2):
        with base.undisturbed(), base.undisturbed():
            assert most_threads() == 1
        assert most_threads() == 2


@every
def test_a_fit_runs_in_one_thread_and_leaves_the_setting_as_it_was(kind, monkeypatch):
    seen = []
    check = base.validate_data

    def watched(*given, **settings):
        seen.append(most_threads())
        return check(*given, **settings)

    monkeypatch.setattr(base, "validate_data", watched)
    X, _, pairs = problem(n_pairs=1500)
    with threadpool_limits(2):
        build(kind).fit(X, pairs)
        assert most_threads() == 2
    assert set(seen) == {1}


class Watched:
    """A function that notes whether the recorder was on."""

    def __init__(self, function, recorder):
        self.function, self.recorder, self.on = function, recorder, []

    def __call__(self, *given, **settings):
        self.on.append(self.recorder.on)
        return self.function(*given, **settings)


class Recorder(ModuleType):
    """MLflow's switch: off for a while, and on again however often it was turned off."""

    def __init__(self):
        super().__init__("mlflow.utils.autologging_utils")
        self.on = True

    @contextmanager
    def disable_autologging(self):
        self.on = False
        try:
            yield
        finally:
            self.on = True


@every
def test_autologging_does_not_record_inner_fits(kind, monkeypatch):
    recorder = Recorder()
    monkeypatch.setitem(sys.modules, recorder.__name__, recorder)
    monkeypatch.setattr(base, "validate_data", watched := Watched(base.validate_data, recorder))
    X, _, pairs = problem(n_pairs=1500)
    with base.undisturbed():
        build(kind).fit(X, pairs)
        assert not recorder.on  # a fit inside of another one leaves it off
    assert recorder.on
    assert set(watched.on) == {False}
