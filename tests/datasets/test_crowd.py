"""A simulated crowd has the rates, shares and effects that its parameters state."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from noisypairs import datasets


def answers_right(crowd):
    pairs = crowd.pairs
    truly_same = crowd.target[pairs.left] == crowd.target[pairs.right]
    return truly_same, pairs.same == truly_same


def test_default_crowd_looks_like_the_real_one():
    crowd = datasets.simulated_crowd(n_items=3000, n_annotators=2000, random_state=0)
    assert crowd.pairs.n_pairs == 60_000
    # The mean of 2,000 rates of standard deviation under .2 has a standard error under .0045.
    np.testing.assert_allclose(crowd.annotator_rates.mean(axis=0), [0.35, 0.30], atol=0.015)
    # Accuracy on 30 answers, one third of them about same pairs, as the real annotators gave.
    chance_wrong = crowd.annotator_rates @ [1 / 3, 2 / 3]
    right = 1 - np.random.default_rng(0).binomial(30, chance_wrong) / 30
    # Shares of 30 move in steps of .033: the percentiles may be one step off, the spread, which
    # was .138, may not.
    np.testing.assert_allclose(np.quantile(right, [0.1, 0.9]), [15 / 30, 25 / 30], atol=0.034)
    assert right.std() == pytest.approx(0.138, abs=0.012)


def test_honest_rates_have_the_means_that_were_asked():
    crowd = datasets.simulated_crowd(
        n_items=1000,
        n_annotators=20_000,
        spammer_share=0.2,
        similar_flip=0.1,
        dissimilar_flip=0.3,
        spread=0.5,
        random_state=1,
    )
    honest = crowd.annotator_rates[crowd.annotator_kind == "honest"]
    assert len(honest) == 16_000
    assert (honest.sum(axis=1) < 1).all()
    # Var(h(1+t)) < .12, so five standard errors are below 1.5 % of the mean.
    np.testing.assert_allclose(honest.mean(axis=0), [0.1, 0.3], rtol=0.015)


def test_answers_follow_the_rates_of_their_annotator():
    crowd = datasets.simulated_crowd(
        n_items=400, n_annotators=20, pairs_per_item=500, spammer_share=0.4, random_state=2
    )
    truly_same, right = answers_right(crowd)
    for who, rates in enumerate(crowd.annotator_rates):
        for truth, rate in zip((True, False), rates, strict=True):
            rows = (crowd.pairs.annotator == who) & (truly_same == truth)
            error = 5 * np.sqrt(rate * (1 - rate) / rows.sum()) + 1e-12
            assert np.mean(~right[rows]) == pytest.approx(rate, abs=error)


def test_the_kinds_are_dealt_evenly_and_do_what_they_say():
    crowd = datasets.simulated_crowd(n_annotators=200, spammer_share=0.2, random_state=3)
    kinds, counts = np.unique(crowd.annotator_kind, return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {
        "honest": 160,
        "spammer": 10,
        "always-same": 10,
        "always-different": 10,
        "reversed": 10,
    }
    said = {
        kind: crowd.pairs.same[crowd.annotator_kind[crowd.pairs.annotator] == kind]
        for kind in kinds
    }
    assert said["always-same"].all()
    assert not said["always-different"].any()
    assert (crowd.annotator_rates[crowd.annotator_kind == "spammer"] == 0.5).all()
    assert (crowd.annotator_rates[crowd.annotator_kind == "reversed"].sum(axis=1) > 1).all()


def test_pairs_are_uniform_over_distinct_items():
    crowd = datasets.simulated_crowd(n_items=4, pairs_per_item=3000, random_state=4)
    left, right = np.asarray(crowd.pairs.left), np.asarray(crowd.pairs.right)
    counts = np.zeros((4, 4))
    np.add.at(counts, (left, right), 1)
    assert (np.diag(counts) == 0).all()
    expected = 12_000 / 12
    off = counts[~np.eye(4, dtype=bool)]
    np.testing.assert_allclose(off, expected, atol=5 * np.sqrt(expected))


def test_answers_per_annotator_are_long_tailed():
    crowd = datasets.simulated_crowd(n_items=2000, n_annotators=1000, random_state=5)
    counts = np.sort(np.bincount(crowd.pairs.annotator, minlength=1000))
    # For log-normal shares of unit spread the busiest tenth gives Φ(1 − z) with Φ(−z) = .1.
    assert counts[-100:].sum() / counts.sum() == pytest.approx(
        norm.cdf(1 - norm.isf(0.1)), abs=0.06
    )


def test_features_tell_the_classes_apart_as_in_the_real_crowd():
    crowd = datasets.simulated_crowd(n_items=2000, random_state=6)
    X, y = crowd.data, crowd.target
    assert LogisticRegression().fit(X, y).score(X, y) == pytest.approx(0.98, abs=0.01)
    groups = KMeans(3, n_init=5, random_state=0).fit_predict(X)
    right = sum(np.bincount(y[groups == group]).max() for group in range(3))
    assert right / len(y) == pytest.approx(0.97, abs=0.02)


def test_crowd_through_load_has_pairs_and_truth():
    parameters = {"n_items": 40, "n_classes": 2, "prior": 0.2, "random_state": 7}
    crowd = datasets.load("crowd", return_X_y=False, **parameters)
    X, y = datasets.load("crowd", **parameters)
    np.testing.assert_array_equal(crowd.data, X)
    np.testing.assert_array_equal(crowd.target, y)
    np.testing.assert_allclose(crowd.prior, [0.8, 0.2])
    assert crowd.pairs.n_items == 40


def test_every_annotator_answers_so_codes_are_rows_of_the_rates():
    crowd = datasets.simulated_crowd(n_items=50, n_annotators=90, pairs_per_item=2, random_state=8)
    np.testing.assert_array_equal(np.unique(crowd.pairs.annotator), np.arange(90))
    np.testing.assert_array_equal(crowd.pairs.annotator_names, np.arange(90))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_items": 1}, "n_items=1: expected a whole number of at least 2"),
        ({"n_classes": 1}, "n_classes=1"),
        ({"n_annotators": 0}, "n_annotators=0"),
        ({"pairs_per_item": 0.5}, "give 250 pairs: expected at least one for each of the 300"),
        ({"spammer_share": 1.5}, r"spammer_share=1.5: expected a number in \[0, 1\]"),
        ({"similar_flip": 0.6, "dissimilar_flip": 0.3}, "the worst honest annotator"),
        ({"prior": [0.5, 0.5]}, "expected 3 positive class shares"),
        ({"prior": [0.5, 0.5, 0.5]}, "that sum to 1"),
        ({"prior": 0.2}, "expected 3 positive class shares"),
        ({"lean": -0.1}, r"lean=-0.1: expected a number in \[0, 1\]"),
        ({"hard_share": 2}, r"hard_share=2: expected a number in \[0, 1\]"),
        ({"bias_spread": -1.0}, "bias_spread=-1.0: expected a standard deviation"),
        ({"skill_spread": float("nan")}, "skill_spread=nan"),
        ({"kinds_per_class": 0}, "kinds_per_class=0: expected a whole number of at least 1"),
        ({"n_confused": 1}, "n_confused=1: expected at most 0"),
        ({"n_confused": 3, "kinds_per_class": 2}, "n_confused=3: expected at most 2"),
    ],
)
def test_crowd_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.simulated_crowd(**parameters)


# --- what people do besides -------------------------------------------------------------------

PLAIN = {"n_items": 300, "spread": 0.0, "lean": 0.0, "spammer_share": 0.0}


def test_without_effects_all_honest_annotators_are_alike():
    crowd = datasets.simulated_crowd(**PLAIN, random_state=0)
    assert (crowd.annotator_rates == [0.33, 0.27]).all()
    for effect in (crowd.bias, crowd.skill, crowd.hard):
        assert not effect.any()
    assert crowd.slope == 0
    np.testing.assert_array_equal(crowd.kind, crowd.target)
    np.testing.assert_array_equal(crowd.kinds_alike, np.eye(3, dtype=bool))


def test_bias_and_skill_are_normal_and_move_the_rates():
    crowd = datasets.simulated_crowd(
        **PLAIN, n_annotators=4000, bias_spread=0.8, skill_spread=0.5, random_state=1
    )
    # The standard deviation of 4,000 normal numbers has a standard error of 1.1 %.
    assert crowd.bias.std() == pytest.approx(0.8, rel=0.06)
    assert crowd.skill.std() == pytest.approx(0.5, rel=0.06)
    same, other = logit(1 - crowd.annotator_rates[:, 0]), logit(crowd.annotator_rates[:, 1])
    np.testing.assert_allclose(
        (same + other) / 2 - np.log(0.67 * 0.27 / 0.33 / 0.73) / 2, crowd.bias
    )
    np.testing.assert_allclose(same - other - logit(0.67) + logit(0.27), crowd.skill)


def share_of_same(crowd, rows):
    """Mean of "same" among some answers, and five standard errors."""
    n = np.count_nonzero(rows)
    return crowd.pairs.same[rows].mean(), 5 * 0.5 / np.sqrt(n)


def test_answers_about_hard_items_do_not_depend_on_the_classes():
    crowd = datasets.simulated_crowd(
        **PLAIN, pairs_per_item=200, similar_flip=0.1, hard_share=0.3, random_state=2
    )
    assert crowd.hard.mean() == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / 300))
    truly_same, _ = answers_right(crowd)
    hard = crowd.hard[crowd.pairs.left] | crowd.hard[crowd.pairs.right]
    mean_odds = expit((logit(0.9) + logit(0.27)) / 2)
    for truth, clear_rate in ((True, 0.9), (False, 0.27)):
        for which, rate in ((hard, mean_odds), (~hard, clear_rate)):
            found, error = share_of_same(crowd, which & (truly_same == truth))
            assert found == pytest.approx(rate, abs=error)


def test_who_never_errs_tosses_a_coin_about_hard_items():
    options = {**PLAIN, "similar_flip": 0.0, "dissimilar_flip": 0.0, "hard_share": 0.5}
    crowd = datasets.simulated_crowd(**options, random_state=3)
    truly_same, right = answers_right(crowd)
    hard = crowd.hard[crowd.pairs.left] | crowd.hard[crowd.pairs.right]
    assert right[~hard].all()
    found, error = share_of_same(crowd, hard & ~truly_same)
    assert found == pytest.approx(0.5, abs=error)


def test_kinds_are_clusters_and_confused_ones_are_called_same():
    crowd = datasets.simulated_crowd(
        **PLAIN, n_classes=2, pairs_per_item=100, kinds_per_class=3, n_confused=1, random_state=4
    )
    np.testing.assert_array_equal(crowd.kind_class[crowd.kind], crowd.target)
    assert crowd.data.shape == (300, 6)
    centres = np.array([crowd.data[crowd.kind == kind].mean(axis=0) for kind in range(6)])
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(6, 1)]
    np.testing.assert_allclose(apart, 4.5, atol=1.0)
    left, right = crowd.kind[crowd.pairs.left], crowd.kind[crowd.pairs.right]
    confused = np.minimum(left, right) * 10 + np.maximum(left, right) == 23
    for rows, rate in (
        (confused, 0.67),
        ((left // 3 != right // 3) & ~confused, 0.27),
        ((left // 3 == right // 3) & (left != right), 0.67),
    ):
        found, error = share_of_same(crowd, rows)
        assert found == pytest.approx(rate, abs=error)


def test_similar_items_are_called_same_more_often():
    crowd = datasets.simulated_crowd(**PLAIN, pairs_per_item=300, slope=2.0, random_state=5)
    truly_same, _ = answers_right(crowd)
    centred = crowd.data - crowd.data.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    cosine = (centred[crowd.pairs.left] * centred[crowd.pairs.right]).sum(axis=1)
    design = np.column_stack([truly_same, cosine])
    found = LogisticRegression(C=np.inf).fit(design, crowd.pairs.same).coef_[0]
    # 90,000 answers: the slope's standard error is below .03.
    np.testing.assert_allclose(found, [logit(0.67) - logit(0.27), 2.0], atol=0.12)
