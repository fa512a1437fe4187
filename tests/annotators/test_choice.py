"""Classes or single pairs: records to link choose pairs, honest crowds of classes do not."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import NotIdentifiable, Pairs, datasets
from noisypairs.annotators import UNDECIDED, annotator_table, choice
from noisypairs.annotators.choice import Trial
from noisypairs.annotators.crowd import judge_crowd
from noisypairs.annotators.pair_truth import infer_pair_truth
from noisypairs.estimation.heldout import repeated_answers
from noisypairs.pairs.pairs import keys_of
from tests.annotators.linkage_problems import records

#: People of small crowds answer a pair again.
COPIES = pytest.mark.filterwarnings("ignore::noisypairs.errors.CopiedAnswersWarning")


@pytest.mark.parametrize("seed", [0, 1])
def test_annotators_of_records_are_ranked_by_their_worth(seed: int) -> None:
    drawn = records(seed=seed)
    table = annotator_table(drawn.pairs, n_classes="auto", random_state=0)
    found = np.array([row.informativeness.estimate for row in table])
    assert np.corrcoef(found, drawn.worth)[0, 1] > 0.9
    assert found.mean() == pytest.approx(drawn.worth.mean(), abs=0.05)
    assert table.choice is not None
    assert (table.choice.model, table.choice.n_classes) == ("pairs", None)
    assert "records to link, not classes to learn" in str(table)
    assert table.to_dict()["records_to_link"]
    assert "pairs changed if dropped" in str(table)
    truth = drawn.group[drawn.pairs.left] == drawn.group[drawn.pairs.right]
    assert table.wrong_proba is not None
    expected = (drawn.pairs.same != truth).mean()
    assert table.wrong_proba.mean() == pytest.approx(expected, abs=0.03)


def test_records_that_look_alike_are_still_no_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes with features are not even tried, and the mean J is near the truth."""
    drawn = records(500, 20)
    X = drawn.looks()
    infer = choice.infer_classes

    def without_features(pairs, X, *more, **settings):
        assert X is None
        return infer(pairs, X, *more, **settings)

    monkeypatch.setattr(choice, "infer_classes", without_features)
    table = annotator_table(drawn.pairs, X, n_classes="auto", n_drop=0, random_state=0)
    assert table.choice is not None
    assert table.choice.are_records
    found = np.mean([row.informativeness.estimate for row in table])
    assert found == pytest.approx(drawn.worth.mean(), abs=0.02)


@pytest.mark.parametrize("n_classes", [2, 6])
def test_few_answers_on_classes_that_look_alikeshow_classes(n_classes: int) -> None:
    """Groups are tiny, since there is a pair for two items, but the answers follow few looks."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=1000)
    X = 2.0 * rng.standard_normal((n_classes, 30))[y] + rng.standard_normal((1000, 30))
    left, right = np.repeat(rng.permutation(1000).reshape(2, 500), 3, axis=1)
    same = (y[left] == y[right]) ^ (rng.random(1500) < 0.1)
    pairs = Pairs(left, right, same, n_items=1000, annotator=np.tile([0, 1, 2], 500))
    truth = infer_pair_truth(pairs)
    assert truth.groups().are_tiny
    shown = [
        choice.show_classes(truth, one, n_classes, np.random.RandomState(0))
        for one in (X, rng.permutation(X), None)
    ]
    assert shown == [True, False, False]


def test_as_many_directions_count_as_classes_have() -> None:
    """Of records no 2 classes are seen; 900 classes would have as many directions as there are."""
    drawn = records(500, 20)
    truth, random = infer_pair_truth(drawn.pairs), np.random.RandomState(0)
    shown = [choice.show_classes(truth, drawn.looks(), most, random) for most in (2, 900)]
    assert shown == [False, True]


def crowd_of(n_classes: int, seed: int):
    rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1, "spread": 0.2}
    return datasets.simulated_crowd(60, n_classes, 15, 25, random_state=seed, **rates)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@COPIES
def test_crowds_of_classes_choose_their_number(n_classes: int) -> None:
    """At least nine of ten crowds choose the right number, and nobody honest is suspect.

    A crowd may be refused instead (one is, where most answers are those of an always-same).
    """
    right = 0
    for seed in range(10):
        crowd = crowd_of(n_classes, seed)
        try:
            table = annotator_table(crowd.pairs, n_classes="auto", n_drop=0, random_state=0)
        except NotIdentifiable:
            continue
        assert table.choice is not None
        assert table.choice.gain is not None  # both were tried
        right += (table.choice.model, table.choice.n_classes) == ("classes", n_classes)
        for row, kind in zip(table, crowd.annotator_kind, strict=True):
            assert kind != "honest" or row.verdict in ("honest", UNDECIDED)
    assert right >= 9


def test_too_few_classes_are_not_held_against_the_annotators() -> None:
    crowd = crowd_of(4, 1)
    twice = Pairs(
        np.tile(crowd.pairs.left, 2),
        np.tile(crowd.pairs.right, 2),
        np.r_[crowd.pairs.same, crowd.target[crowd.pairs.left] == crowd.target[crowd.pairs.right]],
        annotator=np.r_[crowd.pairs.annotator, np.full(crowd.pairs.n_pairs, 99)],
    )
    table = annotator_table(twice, n_classes=2, n_drop=0, random_state=0)
    assert table.choice is not None
    assert table.choice.model == "pairs"
    assert not table.choice.are_records  # groups are large
    assert "records" not in str(table.choice)


def test_the_choice_depends_neither_on_the_order_of_rows_nor_on_sides() -> None:
    pairs = records(300).pairs
    order = np.random.default_rng(0).permutation(pairs.n_pairs)
    other = Pairs(
        pairs.right[order],
        pairs.left[order],
        pairs.same[order],
        pairs.n_items,
        annotator=pairs.annotator[order],
    )
    gains = [Trial(one, np.random.RandomState(0)).over_guessing() for one in (pairs, other)]
    assert gains[0].mean == pytest.approx(gains[1].mean, abs=1e-6)
    assert gains[0].mean_error == pytest.approx(gains[1].mean_error, abs=1e-6)


def test_held_out_answers_leave_an_answer_of_somebody_else_on_every_pair() -> None:
    pairs = records(300).pairs
    trial = Trial(pairs, np.random.RandomState(0))
    assert (trial.held.fold >= 0).sum() == len(np.unique(keys_of(pairs)[repeated_answers(pairs)]))
    for folds in trial.held.masks():
        training, held_out = map(pairs.select, folds)
        assert training.n_pairs + held_out.n_pairs == pairs.n_pairs
        assert np.isin(keys_of(held_out), keys_of(training)).all()
        both = {*zip(keys_of(held_out).tolist(), held_out.annotator.tolist(), strict=True)}
        rest = {*zip(keys_of(training).tolist(), training.annotator.tolist(), strict=True)}
        assert not both & rest


def test_single_pairs_are_refused_without_repeats_and_for_coins() -> None:
    crowd = datasets.simulated_crowd(200, 2, 15, 5, random_state=0)
    with pytest.raises(NotIdentifiable, match="that several people answered"):
        annotator_table(crowd.pairs, model="pairs")
    rng = np.random.default_rng(0)
    pairs = records(300).pairs
    coins = Pairs(
        pairs.left, pairs.right, rng.random(pairs.n_pairs) < 0.5, annotator=pairs.annotator
    )
    with pytest.raises(NotIdentifiable, match="no better than guessing"):
        annotator_table(coins, model="pairs")
    with pytest.raises(NotIdentifiable):
        annotator_table(coins, random_state=0)
    with pytest.raises(ValueError, match="did you mean 'pairs'"):
        annotator_table(coins, model="pair")  # type: ignore[arg-type]  # what is tested
    with pytest.raises(ValueError, match="'auto'"):
        annotator_table(coins, n_classes="many")  # type: ignore[arg-type]  # what is tested


def test_a_crowd_that_links_records_is_judged_as_a_whole() -> None:
    drawn = records(500, 20)
    found = judge_crowd(drawn.pairs, n_classes="auto")
    assert found.table.choice is not None
    assert found.table.choice.model == "pairs"
    plain = found.to_dict()
    assert plain["model"] == "pairs"
    assert plain["n_classes"] is None


def test_likeness_of_records_counts_where_it_predicts_answers() -> None:
    """Records of one group look alike: J is nearer to the truth; noise moves nothing."""
    drawn = records(600)
    alone = annotator_table(drawn.pairs, model="pairs", n_drop=0, random_state=0)
    table = annotator_table(drawn.pairs, drawn.looks(), model="pairs", n_drop=0, random_state=0)
    noise = np.random.default_rng(0).standard_normal((len(drawn.group), 5))
    same = annotator_table(drawn.pairs, noise, model="pairs", n_drop=0, random_state=0)
    found, before, after = (
        np.array([row.informativeness.estimate for row in one]) for one in (table, alone, same)
    )
    assert table.choice.by_likeness is not None
    assert "similarity of the two items is used" in str(table.choice)
    errors = [np.abs(one - drawn.worth).mean() for one in (found, before)]
    assert errors[0] < 0.85 * errors[1]
    assert same.choice.by_likeness is None
    assert np.abs(after - before).mean() < 0.02  # draws of another order
