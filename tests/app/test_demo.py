"""The demo: what it learns, in words, and on its page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from noisypairs import (
    CleanPairs,
    JointPairClassifier,
    LossCorrectionClassifier,
    PairingNoise,
    Pairs,
    algebra,
    datasets,
    metrics,
    sample_pairs,
)
from noisypairs.algebra import mean_rates
from noisypairs.app import demo
from noisypairs.app.demo import CROWD, REFERENCE, attempt
from noisypairs.app.report import charts
from noisypairs.noise import LabelingNoise
from tests.app.page_reader import words_of

POINTWISE = ("Loss correction", "Weighted", "SD-Loss (no noise)", "Unweighted")


@pytest.fixture(scope="module")
def steps() -> list[str]:
    return []


@pytest.fixture(scope="module")
def result(steps: list[str]) -> demo.Demo:
    return demo.run(0, steps.append)


def test_every_method_has_its_row(result, steps):
    given_nothing = {row.method for row in result.cancer.rows if row.told == "nothing"}
    given_prior = {row.method for row in result.cancer.rows if row.told == "share of malignant"}
    assert given_nothing == {
        "Joint learner",
        *POINTWISE,
        "COP-k-means",
        "k-means, answers ignored",
    }
    assert given_prior == set(POINTWISE)
    assert (result.cancer.rows[-1].method, result.cancer.rows[-1].told) == REFERENCE
    assert len(result.crowd.rows) == 4
    assert len(steps) == demo.N_STEPS == len(result.cancer.rows) + len(result.crowd.rows)
    assert steps[0] == "Joint learner (nothing)"


def test_a_row_has_an_accuracy_or_a_reason(result):
    for row in (*result.cancer.rows, *result.crowd.rows):
        assert (row.test_accuracy is None) == (row.refusal is not None)
        assert row.seconds >= 0.0


def test_the_joint_learner_given_nothing_is_near_the_true_classes_and_ahead_of_the_others(result):
    joint, *others, clean = (row.test_accuracy for row in result.cancer.rows)
    assert joint > clean - 0.03
    assert joint > max(one for one in others if one is not None)


def test_the_facts_about_the_tumours_are_those_of_a_draw_of_our_own(result):
    X, y = datasets.load("cancer")
    train = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=0)[0]
    pairs = sample_pairs(y[train], 5 * len(train), PairingNoise(0.3, 0.2), random_state=0)
    truth = y[train][pairs.left] == y[train][pairs.right]
    part = result.cancer
    assert (part.n_train, part.n_train + part.n_test) == (len(train), len(y))
    assert (part.n_features, part.n_pairs) == (X.shape[1], pairs.n_pairs)
    assert part.n_wrong == (pairs.same != truth).sum()
    assert part.larger_class == pytest.approx(1 - y[train].mean())


def test_rates_prior_and_suspects_are_near_the_truth(result):
    part, found = result.cancer, result.cancer.learnt
    assert found.similar_flip == pytest.approx(part.similar_flip, abs=0.05)
    assert found.dissimilar_flip == pytest.approx(part.dissimilar_flip, abs=0.05)
    assert found.larger_class == pytest.approx(part.larger_class, abs=0.05)
    assert 0.9 * found.n_suspect <= found.n_suspect_wrong <= found.n_suspect
    assert found.n_suspect_wrong >= 0.9 * part.n_wrong


def test_mean_rates_of_labeling_noise_agree_with_counting_pairs():
    noise, prior = LabelingNoise(0.3, 0.1), 0.3
    y = (np.random.default_rng(0).random(3000) < prior).astype(int)
    pairs = sample_pairs(y, 400_000, noise, random_state=1)
    truly_same = y[pairs.left] == y[pairs.right]
    counted = 1 - pairs.same[truly_same].mean(), pairs.same[~truly_same].mean()
    # Standard errors are below .0013; four of them.
    assert mean_rates(
        noise.same_probability(), np.array([1.0 - y.mean(), y.mean()])
    ) == pytest.approx(counted, abs=0.005)


def test_rates_for_every_annotator_label_the_compared_items_better(result):
    apart, alike, kmeans, reference = result.crowd.rows
    assert apart.train_accuracy > max(alike.train_accuracy, kmeans.train_accuracy)
    assert reference.train_accuracy is None  # it was given these very classes
    assert reference.test_accuracy > 0.75


def test_the_worst_annotators_are_the_busy_ones_whose_rates_sum_highest(result):
    worst = result.crowd.worst
    sums = [one.similar_flip + one.dissimilar_flip for one in worst]
    assert len(worst) == demo.N_WORST
    assert sums == sorted(sums, reverse=True)
    assert min(one.n_answers for one in worst) >= demo.ENOUGH_ANSWERS
    assert sum(one.kind != "honest" for one in worst) > len(worst) / 2
    here = datasets.simulated_crowd(random_state=np.random.default_rng(0).spawn(1)[0], **CROWD)
    for one in worst:
        assert one.n_answers == (here.pairs.annotator == one.name).sum()
        assert one.kind == here.annotator_kind[one.name]
        assert [one.true_similar_flip, one.true_dissimilar_flip] == pytest.approx(
            here.annotator_rates[one.name]
        )


def balanced() -> tuple[np.ndarray, np.ndarray, Pairs]:
    X, y = datasets.load("gaussians", n_samples=200, prior=0.5, random_state=0)
    return X, y, sample_pairs(y, 600, random_state=0)


def refusing() -> LossCorrectionClassifier:
    """A learner that refuses balanced data for one reason, whatever its folds."""
    return LossCorrectionClassifier(noise=CleanPairs(), random_state=0)


def test_a_refusal_is_a_row_with_the_reason():
    X, y, pairs = balanced()
    row = attempt(
        ("T", "nothing", LossCorrectionClassifier(noise=CleanPairs(), random_state=0)),
        (X, pairs),
        (X, y),
        y,
    )
    assert (row.test_accuracy, row.train_accuracy) == (None, None)
    assert "a point-wise method cannot learn" in row.refusal


def test_other_errors_are_not_hidden():
    X, y, pairs = balanced()
    with pytest.raises(ValueError, match="X has 100 rows"):
        attempt(
            ("J", "nothing", JointPairClassifier(n_classes=2, random_state=0)),
            (X[:100], pairs),
            (X, y),
        )


def test_warnings_are_noted_but_for_class_names():
    X, y = datasets.load("gaussians", n_samples=300, prior=0.4, random_state=0)
    noise = PairingNoise(0.2, 0.2)
    pairs = sample_pairs(y, 800, noise, random_state=0)
    signal = algebra.signal(noise.same_probability(), 0.4)
    assert 2 < abs(signal) * np.sqrt(2 * 800) < 10  # enough to learn from, and to be warned about
    model = LossCorrectionClassifier(noise=noise, prior=0.4, random_state=0)
    row = attempt(("T", "all", model), (X, pairs), (X, y))
    assert len(row.warnings) == 1
    assert "expect a large spread" in row.warnings[0]
    joint = attempt(("J", "", JointPairClassifier(n_classes=2, random_state=0)), (X, pairs), (X, y))
    assert joint.warnings == ()


def test_accuracies_are_up_to_class_names_and_see_the_answers_where_they_can():
    X, y, pairs = balanced()
    model = JointPairClassifier(n_classes=2, random_state=0)
    row = attempt(("J", "nothing", model), (X, pairs), (X, 1 - y), 1 - y)
    assert row.test_accuracy == metrics.accuracy_up_to_names(y, model.predict(X)) > 0.98
    assert row.train_accuracy == metrics.accuracy_up_to_names(y, model.item_proba_.argmax(axis=1))
    plain = attempt(("L", "classes", LogisticRegression()), (X, y), (X[:9], y[:9]), y)
    assert plain.train_accuracy == LogisticRegression().fit(X, y).score(X, y)


def test_without_a_joint_model_the_reference_is_the_default_classifier():
    X, y, pairs = balanced()
    refuses = ("T", "clean", refusing())
    facts, model, _ = demo.compare([refuses], (X, pairs, y), (X, y), lambda _: None)
    rows = facts["rows"]
    assert model is None
    assert rows[0].refusal is not None
    assert rows[1].test_accuracy > 0.98


def test_when_the_joint_learner_refuses_the_words_say_so(result):
    silent = replace(
        result,
        cancer=replace(result.cancer, learnt=None),
        crowd=replace(result.crowd, worst=()),
    )
    tumours, crowd = demo.stories(silent)
    assert "nothing was learnt" in tumours.after
    assert crowd.title == "2. A crowd"


def test_methods_that_refuse_for_one_reason_share_a_footnote(result):
    refused = [row for row in result.cancer.rows if row.refusal]
    twice = replace(result.cancer, rows=(*result.cancer.rows, replace(refused[0], method="U")))
    footnotes = demo.stories(replace(result, cancer=twice))[0].footnotes
    assert footnotes[-1].startswith(f"{refused[0].method}, U: 46.8% of the answers are 'same'")


def test_intervals_of_the_page_are_those_of_the_test_items(result):
    """Wilson's interval by its own formula, against the text of the first number."""
    n, share = result.cancer.n_test, result.cancer.rows[0].test_accuracy
    middle = (share + 1.96**2 / (2 * n)) / (1 + 1.96**2 / n)
    half = 1.96 / (1 + 1.96**2 / n) * np.sqrt(share * (1 - share) / n + 1.96**2 / (4 * n**2))
    expected = f"{100 * (middle - half):.0f} to {middle + half:.0%}, by the chance of {n} items"
    assert expected in words_of(demo.demo_report(result))


def test_a_page_where_the_joint_learner_refused_says_so(result):
    first = replace(result.cancer.rows[0], test_accuracy=None, refusal="no <signal> at all")
    silent = replace(
        result,
        cancer=replace(result.cancer, learnt=None, rows=(first, *result.cancer.rows[1:])),
        crowd=replace(result.crowd, worst=()),
    )
    text = words_of(demo.demo_report(silent))
    assert "refuses to learn" in text
    assert "Problem. no <signal> at all" in text


def test_the_same_result_gives_the_same_page(result):
    assert demo.demo_report(result) == demo.demo_report(result)


def test_bars_name_what_a_method_was_given(result, monkeypatch):
    drawn, bars = [], charts.bars

    def noted(names, *values, **settings):
        drawn.append(names)
        return bars(names, *values, **settings)

    monkeypatch.setattr(charts, "bars", noted)
    demo.demo_report(result)
    names = drawn[0]
    assert len(set(names)) == len(names) == len(result.cancer.rows)
    assert names[0] == "Joint learner"
    assert "Weighted, prior given" in names
    assert names[-1] == "every true class given"
