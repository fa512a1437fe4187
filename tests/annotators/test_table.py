"""Annotators: counts against known classes, evidence against quadrature, verdicts on crowds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import integrate, stats

from noisypairs import NotIdentifiable, Pairs, datasets
from noisypairs.annotators import UNDECIDED, annotator_table
from noisypairs.annotators.kinds import (
    KINDS,
    SLIPS,
    _honest_evidence,
    _log_evidence,
    kind_probability,
    rate_posterior,
)
from noisypairs.annotators.table import _Reading
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.propagation import propagate


def crowd_of(seed: int = 0, n_classes: int = 2, n_annotators: int = 30, n_items: int = 120, **more):
    rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1, "spread": 0.2} | more
    return datasets.simulated_crowd(
        n_items, n_classes, n_annotators, 30, random_state=seed, **rates
    )


@pytest.fixture(scope="module")
def crowd():
    return crowd_of(seed=3)


@pytest.fixture(scope="module")
def table(crowd):
    return annotator_table(crowd.pairs, random_state=0)


def test_known_classes_make_the_counts_exact():
    crowd = crowd_of(n_annotators=1, spammer_share=0.0)
    gold = dict(enumerate(crowd.target.tolist()))
    row = annotator_table(crowd.pairs, gold=gold, n_drop=0).rows[0]
    truth = crowd.target[crowd.pairs.left] == crowd.target[crowd.pairs.right]
    laws = []
    for kind, interval in ((truth, row.similar_flip), (~truth, row.dissimilar_flip)):
        wrong = int((crowd.pairs.same != truth)[kind].sum())
        law = stats.beta(wrong + 0.5, int(kind.sum()) - wrong + 0.5)  # alone: Jeffreys' prior
        expected = law.mean(), *law.ppf([0.025, 0.975])
        found = interval.estimate, interval.low, interval.high
        np.testing.assert_allclose(found, expected, atol=1e-6)
        laws.append(law)
    assert row.accuracy == pytest.approx((crowd.pairs.same == truth).mean())
    # J = 1 − ρ_S − ρ_D: its distribution function by quadrature over ρ_S.
    for end, level in ((row.informativeness.low, 0.025), (row.informativeness.high, 0.975)):
        below = integrate.quad(lambda x, e=end: laws[0].pdf(x) * laws[1].sf(1 - e - x), 0, 0.5)[0]
        assert below == pytest.approx(level, abs=4 * np.sqrt(0.025 * 0.975 / 4000))


def test_evidence_is_the_integral_of_the_likelihood_over_the_rate():
    for a, b in ((2.0, 2.0), SLIPS, (3.0, 17.0)):
        law = stats.beta(a, b)
        value, _ = integrate.quad(lambda x, law=law: x**7 * (1 - x) ** 4 * law.pdf(x), 0, 1)
        assert _log_evidence(np.array(7.0), np.array(4.0), a, b) == pytest.approx(np.log(value))


def test_honest_evidence_mixes_the_alike_and_the_odd():
    wrong, right = np.array([[3.0], [1.0]]), np.array([[5.0], [6.0]])
    mean, strength = np.array([[0.1], [0.2]]), np.array([[40.0], [30.0]])
    total = 0.0
    for share, m in ((0.99, strength[:, 0]), (0.01, np.array([5.0, 5.0]))):
        product = share
        for k in range(2):
            law = stats.beta(m[k] * mean[k, 0], m[k] * (1 - mean[k, 0]))
            w, r = wrong[k, 0], right[k, 0]
            product *= law.expect(lambda x, w=w, r=r: x**w * (1 - x) ** r)
        total += product
    assert _honest_evidence(wrong, right, mean, strength)[0] == pytest.approx(np.log(total))


def test_kinds_follow_from_clear_counts_and_longer_records_say_more():
    n = np.array([2.0, 60.0])
    patterns = {  # (ρ_S, ρ_D) of each kind
        "honest": (0.1, 0.2),
        "spammer": (0.5, 0.5),
        "always-same": (0.0, 1.0),
        "always-different": (1.0, 0.0),
        "reversed": (0.9, 0.9),
    }
    crowd = np.tile([[0.1], [0.15]], 20) * 50
    for kind, rates in patterns.items():
        few, many = (np.outer(rates, [size]) for size in n)
        wrong = np.concatenate([crowd, few, many], axis=1)
        total = np.concatenate(
            [np.full((2, 20), 50.0), np.full((2, 1), n[0]), np.full((2, 1), n[1])], axis=1
        )
        proba, shares = kind_probability(wrong, total)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert shares.sum() == pytest.approx(1.0)
        k = KINDS.index(kind)
        assert proba[-1].argmax() == k
        assert proba[-1, k] > 0.99
        assert proba[-1, k] > proba[-2, k]


def test_a_leaning_coin_is_a_spammer_and_a_weak_but_real_eye_is_honest():
    crowd = np.tile([[0.1], [0.1]], 20) * 100
    leaning, weak = np.array([[30.0], [70.0]]), np.array([[70.0], [70.0]])
    wrong = np.concatenate([crowd, leaning, weak], axis=1)
    total = np.concatenate([np.full((2, 21), 100.0), np.full((2, 1), 200.0)], axis=1)
    proba, _ = kind_probability(wrong, total)
    assert KINDS[proba[-2].argmax()] == "spammer"
    assert KINDS[proba[-1].argmax()] == "honest"  # J = .3, five standard errors above 0


def test_rates_are_shrunk_towards_the_others_who_are_honest():
    rng = np.random.default_rng(0)
    total = rng.integers(5, 80, size=(2, 12)).astype(float)
    wrong = rng.binomial(total.astype(int), 0.2).astype(float)
    honest = np.array([1.0] * 10 + [0.3, 0.0])
    a, b = rate_posterior(wrong, total, honest)
    for k in range(2):
        for r in range(12):
            rest = np.arange(12) != r
            n, w = honest[rest] @ total[k, rest], honest[rest] @ wrong[k, rest]
            strength = a[k, r] + b[k, r] - total[k, r]
            if honest[r] == 0:
                assert (a[k, r], strength) == pytest.approx((wrong[k, r] + 0.5, 1.0))
                continue
            assert strength <= 20 * honest[r]
            prior = (a[k, r] - wrong[k, r]) / strength
            assert prior == pytest.approx((w + 0.5) / (n + 1.0), rel=1e-9)


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_bad_annotator_with_thirty_answers_is_named(features, n_classes):
    crowd = crowd_of(1, n_classes, spammer_share=0.2)
    table = annotator_table(
        crowd.pairs, crowd.data if features else None, n_classes=n_classes, n_drop=0, random_state=0
    )
    assert len(table) == 30
    checked = 0
    for row, truth in zip(table, crowd.annotator_kind, strict=True):
        if row.n_answers >= 30:
            assert row.verdict == truth
            checked += truth != "honest"
        assert row.verdict in (truth, UNDECIDED)
    assert checked >= 3
    assert set(table.suspects) == set(np.flatnonzero(crowd.annotator_kind != "honest")) - set(
        table.named(UNDECIDED)
    )


def test_intervals_cover_the_rates_of_honest_annotators():
    """Four crowds of 60: at 95 % coverage fewer than 90 % of 480 has a chance below 1e-5."""
    covered = []
    for seed in range(4):
        crowd = crowd_of(seed, n_annotators=60, n_items=200, spread=0.45)
        table = annotator_table(crowd.pairs, n_drop=0, random_state=seed)
        for row, kind, rates in zip(
            table, crowd.annotator_kind, crowd.annotator_rates, strict=True
        ):
            if kind == "honest":
                covered += [rates[0] in row.similar_flip, rates[1] in row.dissimilar_flip]
    assert np.mean(covered) > 0.9


def test_few_answers_stay_close_to_the_crowd_and_undecided():
    crowd = crowd_of(3)
    pairs = crowd.pairs
    extra = np.array([0, 1, 2])
    pairs = Pairs(
        np.append(pairs.left, extra),
        np.append(pairs.right, extra + 50),
        np.append(pairs.same, crowd.target[extra] != crowd.target[extra + 50]),  # all wrong
        annotator=np.append(pairs.annotator, [99, 99, 99]),
    )
    row = annotator_table(pairs, random_state=0, n_drop=0).rows[-1]
    assert (row.name, row.n_answers, row.verdict) == (99, 3, UNDECIDED)
    # Three of three answers wrong: pulled back from a rate of one, with a wide interval.
    assert row.informativeness.estimate > -0.6
    assert row.informativeness.high - row.informativeness.low > 0.5


def test_drop_effect_counts_changed_items_as_enumeration_does():
    # A path 0-1-2-3, item 0 known; annotator 1 alone says that 2 differs from 1.
    left, right, same = [0, 1, 2], [1, 2, 3], np.array([True, False, True])
    S = np.array([[[0.9, 0.2], [0.2, 0.9]], [[0.7, 0.1], [0.1, 0.7]]])
    log_phi = np.log(np.array([[0.5, 0.5], [0.6, 0.4], [0.57, 0.43], [0.55, 0.45]]))
    graph = PairGraph.from_answers(left, right, same, group=[0, 1, 0], n_groups=2)
    beliefs = propagate(graph, log_phi, S, clamp={0: 0})
    reading = _Reading(graph, log_phi, S, beliefs, {0: 0})

    def marginals(without: int | None) -> np.ndarray:
        weights = np.zeros((4, 2))
        for y in np.ndindex(1, 2, 2, 2):
            weight = np.exp(log_phi[range(4), y].sum())
            for i, j, answer, group in zip(left, right, same, [0, 1, 0], strict=True):
                if group != without:
                    chance = S[group, y[i], y[j]]
                    weight *= chance if answer else 1 - chance
            weights[range(4), y] += weight
        return weights / weights.sum(axis=1, keepdims=True)

    np.testing.assert_allclose(beliefs.item, marginals(None), atol=1e-6)
    for group in (0, 1):
        changed = marginals(group).argmax(axis=1) != marginals(None).argmax(axis=1)
        assert reading.drop_effect(group) == changed.sum()
    assert reading.drop_effect(1) == 2


def test_table_reads_as_text_and_as_plain_data(crowd, table):
    text = str(table).splitlines()
    assert len(text) == 1 + 1 + 20 + 1
    assert text[-1].startswith("… and 10 more")
    assert len(table.to_text(None).splitlines()) == 2 + 30
    assert text[2].split()[0] in {str(name) for name in table.suspects}
    plain = json.loads(json.dumps(table.to_dict()))
    assert plain["annotators"] == json.loads(json.dumps(table.to_records()))
    first = plain["annotators"][0]
    assert first["similar_flip_low"] < first["similar_flip"] < first["similar_flip_high"]
    assert plain["crowd"]["n_answers"] == crowd.pairs.n_pairs
    assert plain["kind_shares"].keys() == set(KINDS)
    tried = [row for row in table if row.drop_effect is not None]
    assert len(tried) == 10
    others = [row for row in table if row.drop_effect is None]
    worst = max(row.informativeness.estimate for row in tried)
    assert worst <= min(row.informativeness.estimate for row in others)


def test_neither_order_nor_names_nor_seed_change_the_verdicts(crowd, table):
    order = np.random.default_rng(1).permutation(crowd.pairs.n_pairs)
    shuffled = crowd.pairs.select(order)
    again = annotator_table(shuffled, random_state=np.random.default_rng(5))
    for row, other in zip(table, again, strict=True):
        assert row.verdict == other.verdict
        assert row.informativeness.estimate == pytest.approx(
            other.informativeness.estimate, abs=0.01
        )


def test_an_answer_of_weight_two_counts_twice(crowd):
    pairs = crowd.pairs
    heavy = annotator_table(pairs.reweighted(np.full(pairs.n_pairs, 2.0)), n_drop=0, random_state=0)
    twice = annotator_table(
        pairs.select(np.tile(np.arange(pairs.n_pairs), 2)), n_drop=0, random_state=0
    )
    for row, other in zip(heavy, twice, strict=True):
        assert row.similar_flip.estimate == pytest.approx(other.similar_flip.estimate, abs=1e-3)
        assert 2 * row.n_answers == other.n_answers


def test_gold_labels_of_any_name_are_used(crowd):
    gold = {i: "yes" if crowd.target[i] else "no" for i in range(60)}
    given = annotator_table(crowd.pairs, gold=gold, n_drop=0, random_state=0)
    on_pairs = annotator_table(crowd.pairs.with_labels(gold), n_drop=0, random_state=0)
    assert given.rows == on_pairs.rows
    assert np.array_equal(given.item_proba[:60].argmax(axis=1), crowd.target[:60])


def test_random_answers_judge_nobody():
    rng = np.random.default_rng(0)
    left = rng.integers(100, size=600)
    right = (left + rng.integers(1, 100, size=600)) % 100
    pairs = Pairs(left, right, rng.random(600) < 0.5, 100, annotator=rng.integers(8, size=600))
    with pytest.raises(NotIdentifiable, match="more answers per item"):
        annotator_table(pairs, random_state=0)


def test_errors_say_what_to_do(table):
    pairs = Pairs([0, 1], [1, 2], [1, 0])
    with pytest.raises(ValueError, match="annotator=ids"):
        annotator_table(pairs)
    named = Pairs([0, 1], [1, 2], [1, 0], annotator=["a", "b"])
    with pytest.raises(ValueError, match=r"level=95: .* 0\.95"):
        annotator_table(named, level=95)
    with pytest.raises(ValueError, match="every class"):
        annotator_table(named, gold={0: "x"})
    with pytest.raises(ValueError, match="two distinct items"):
        annotator_table(Pairs([0], [0], [1], annotator=["a"]))
    with pytest.raises(ValueError, match="did you mean 'reversed'"):
        table.named("reverse")
