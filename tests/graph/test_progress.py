"""Stages tell whoever listens where a fit is, and change nothing in what it finds."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    JointPairClassifier,
    PairingNoise,
    Pairs,
    PairTable,
    datasets,
    sample_pairs,
)
from noisypairs.annotators import annotator_table
from noisypairs.errors import NotIdentifiable
from noisypairs.graph.progress import At, Lines, each, listening, stage
from noisypairs.joint.class_model import SharesModel
from noisypairs.joint.em import Spec, TableEStep, run_em
from noisypairs.noise import AnswerModel


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.paths: list[tuple[At, ...]] = []
        self.shares: list[float] = []

    def __call__(self, path: tuple[At, ...], share: float) -> None:
        self.paths.append(path[1:])  # the first is the listener's own
        self.shares.append(share)

    @property
    def texts(self) -> list[str]:
        return [", ".join(map(str, path)) for path in self.paths]


@pytest.fixture(scope="module")
def problem():
    X, y = datasets.load("gaussians", n_samples=200, prior=0.5, random_state=0)
    pairs = sample_pairs(y, 800, PairingNoise(0.2, 0.1), random_state=0)
    return X, pairs.with_labels({0: int(y[0]), int(np.flatnonzero(y != y[0])[0]): int(1 - y[0])})


def learner(**settings):
    return JointPairClassifier(random_state=0, **settings)


# --- stages ---------------------------------------------------------------------------------------


def test_shares_say_how_far_it_is_and_skipped_stages_count_as_done():
    heard = Heard()
    with listening(heard), stage("fit", {"a": 1.0, "b": 2.0, "c": 1.0}):
        for _ in each("a", range(2)):
            pass
        with stage("c"):
            pass
    assert heard.texts == ["fit", "fit, a 1 of 2", "fit, a 2 of 2", "fit, c"]
    assert heard.shares == [0.0, 0.0, 0.125, 0.75]


def test_a_stage_without_a_share_does_not_move_the_others():
    heard = Heard()
    with listening(heard), stage("fit", {"a": 1.0, "b": 1.0}):
        with stage("a"):
            pass
        with stage("unforeseen"):
            pass
        with stage("a"):  # once more
            pass
        with stage("b"):
            pass
    assert heard.shares == [0.0, 0.0, 0.5, 0.5, 0.5]


def test_where_nobody_listens_the_items_are_looped_over_as_they_are():
    items = range(3)
    assert each("step", items) is items
    with listening(Heard()):
        assert each("step", items) is not items
    assert each("step", items) is items


def test_every_listener_hears_its_own_share():
    outer, inner = Heard(), Heard()
    with listening(outer):
        for k in each("fold", range(2)):
            if k:
                with listening(inner):
                    for _ in each("round", range(4)):
                        pass
    assert inner.shares == [0.0, 0.25, 0.5, 0.75]
    assert outer.shares == [0.0, 0.5, 0.5, 0.625, 0.75, 0.875]


def test_loops_that_failed_or_stopped_early_are_over():
    heard, kept = Heard(), []
    with listening(heard) as whole:
        whole.move(At("first"), 0.0, 0.5)
        try:
            for _ in each("round", range(4)):
                raise ValueError
        except ValueError as error:
            kept.append(error)  # keeps the loop's generator alive
        whole.move(At("second"), 0.5, 0.5)
        for _ in each("round", range(4)):
            break
        with stage("last"):
            kept.clear()  # closes the loop of the first step now
            for _ in each("pass", range(2)):
                pass
    expected = ["", "round 1 of 4", "", "round 1 of 4", "last", "last, pass 1 of 2"]
    assert heard.texts == [*expected, "last, pass 2 of 2"]
    assert heard.shares == sorted(heard.shares)


# --- the joint learner ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{}, {"n_classes": "auto"}, {"estimator": LogisticRegression(), "n_classes": (2,)}]
)
def test_a_fit_reports_its_stages_in_order(problem, settings):
    heard, clf = Heard(), learner(**settings)
    with listening(heard), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(*problem)
    assert all(1 <= at.step <= at.total or at.total == 0 for path in heard.paths for at in path)
    seen = list(dict.fromkeys(path[1].name for path in heard.paths if len(path) > 1))
    assert seen == list(clf.stages())
    rounds = [path[1].step for path in heard.paths if len(path) == 2 and path[1].name == "round"]
    assert rounds == list(range(1, clf.n_iter_ + 1))
    assert heard.shares == sorted(heard.shares)
    assert 0.9 < heard.shares[-1] <= 1.0  # the final fit is short


def test_intervals_and_annotators_report_too(problem):
    X, pairs = problem
    heard, clf = Heard(), learner(estimator=LogisticRegression()).fit(X, pairs)
    with listening(heard):
        clf.intervals(X, pairs, n_bootstrap=3)
    assert {"redrawn answers 1 of 3", "redrawn answers 3 of 3"} <= set(heard.texts)
    pairs = datasets.simulated_crowd(60, 2, 8, 40, random_state=0).pairs.without_copies()
    heard = Heard()
    with listening(heard):
        table = annotator_table(pairs, n_drop=2, random_state=0)
    dropped = [text for text in heard.texts if text.startswith(", without")]
    assert dropped == [", without one annotator 1 of 2", ", without one annotator 2 of 2"]
    assert heard.shares == sorted(heard.shares)
    assert str(annotator_table(pairs, n_drop=2, random_state=0)) == str(table)


def test_a_streamed_fit_reports_its_passes(problem):
    _, pairs = problem

    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    rows = pytest.importorskip("pyarrow").table(
        {"left": pairs.left, "right": pairs.right, "same": pairs.same}
    )
    table = PairTable.from_ibis(ibis.memtable(rows), n_items=pairs.n_items)
    heard, guess = Heard(), np.random.default_rng(0).dirichlet([1.0, 1.0], pairs.n_items)
    answers = AnswerModel(PairingNoise(0.2, 0.2), "pairing", 2)
    e_step, model = TableEStep(table, False, None), SharesModel(np.ones(pairs.n_items))
    with listening(heard):
        run_em(Spec(2, "shares", "pairing"), "guess", e_step, model, answers, guess, rounds=2)
    passes = [text for text in heard.texts if "pass" in text]
    assert passes[0] == "round 1 of 2, pass 1 of 4"
    assert len(passes) == e_step.propagation.passes


def test_what_is_found_does_not_depend_on_who_listens(problem, capsys):
    X, pairs = problem
    with listening(Heard()):
        heard = learner(verbose=9).fit(X, pairs)
    alone = learner().fit(X, pairs)
    for name in ("item_proba_", "oof_proba_", "wrong_proba_", "log_likelihood_", "candidates_"):
        np.testing.assert_equal(getattr(heard, name), getattr(alone, name))
    assert (heard.noise_, heard.n_iter_, heard.start_) == (
        alone.noise_,
        alone.n_iter_,
        alone.start_,
    )
    np.testing.assert_array_equal(heard.predict_proba(X), alone.predict_proba(X))
    assert capsys.readouterr().out == ""


# --- verbose --------------------------------------------------------------------------------------


def printed(capsys) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""
    lines = [re.fullmatch(r"\[JointPairClassifier\] +\d+\.\d s  (.+)", x) for x in err.splitlines()]
    return [line[1] if line else "another line" for line in lines]


def test_verbose_prints_a_line_for_each_stage_and_deeper_ones_on_request(problem, capsys):
    learner().fit(*problem)
    assert printed(capsys) == []
    learner(verbose=True).fit(*problem)
    lines = printed(capsys)
    assert lines[:2] == ["checking items and pairs", "search"]
    assert "candidate estimators" in lines
    assert lines[-2:] == ["final fit", "done"]
    learner(verbose=np.int64(2)).fit(*problem)
    deep = printed(capsys)
    assert any(line == "search, model choice" for line in deep)
    assert [line for line in deep if line in lines] == lines


def test_lines_tell_the_seconds_since_the_beginning(capsys):
    clock = iter([100.0, 101.5, 161.0])
    lines = Lines("Learner", 1, clock=lambda: next(clock))
    with listening(lines), stage("fit"), stage("start"), stage("deeper"):
        pass
    assert capsys.readouterr().err.splitlines() == [
        "[Learner]     1.5 s  checking items and pairs",
        "[Learner]    61.0 s  start",
    ]


@pytest.mark.parametrize("verbose", ["yes", -1, 0.5, None])
def test_a_wrong_verbose_is_refused(problem, verbose):
    with pytest.raises(ValueError, match=f"verbose={verbose!r}: expected True or False, or how"):
        learner(verbose=verbose).fit(*problem)


def test_a_fit_that_fails_prints_no_more(problem, capsys):
    X, pairs = problem
    answers = np.random.default_rng(0).random(pairs.n_pairs) < 0.5
    random = Pairs(pairs.left, pairs.right, answers, n_items=pairs.n_items)
    with pytest.raises(NotIdentifiable):
        learner(verbose=True).fit(X, random)
    assert printed(capsys)[-1] != "done"
    learner().fit(X, pairs)
    assert printed(capsys) == []
