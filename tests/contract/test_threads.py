"""Every learner fits in one thread: sums over several threads round differently."""

from __future__ import annotations

from threadpoolctl import threadpool_info, threadpool_limits

from noisypairs.estimators import base

from .learners import build, every, problem


def most_threads() -> int:
    return max(pool["num_threads"] for pool in threadpool_info())


def test_one_thread_inside_and_as_many_as_before_outside():
    with threadpool_limits(2):
        with base.one_thread(), base.one_thread():
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
