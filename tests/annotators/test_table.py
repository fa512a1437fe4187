"""The table of annotators: counts against known classes, verdicts on crowds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from noisypairs import NotIdentifiable, Pairs, datasets
from noisypairs import classifier as joint
from noisypairs.annotators import KINDS, UNDECIDED, annotator_table
from noisypairs.annotators.table import table_from_counts

#: People of small crowds answer a pair again.
COPIES = pytest.mark.filterwarnings("ignore::noisypairs.errors.CopiedAnswersWarning")


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


@COPIES
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


@COPIES
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
    with pytest.raises(NotIdentifiable, match="items of known class"):
        annotator_table(pairs, random_state=0)


def test_errors_say_what_to_do(table):
    pairs = Pairs([0, 1], [1, 2], [1, 0])
    with pytest.raises(ValueError, match="annotator=ids"):
        annotator_table(pairs)
    named = Pairs([0, 1], [1, 2], [1, 0], annotator=["a", "b"])
    with pytest.raises(ValueError, match=r"level=95: .* 0\.95"):
        annotator_table(named, level=95)
    with pytest.raises(ValueError, match="name 3 classes"):
        annotator_table(named, gold={0: "x", 1: "y", 2: "z"})
    with pytest.raises(ValueError, match="two distinct items"):
        annotator_table(Pairs([0], [0], [1], annotator=["a"]))
    with pytest.raises(ValueError, match="did you mean 'reversed'"):
        table.named("reverse")


def test_all_weights_of_a_streamed_table_count(crowd, tmp_path, monkeypatch):
    pytest.importorskip("ibis", reason="pair tables need the app extra")
    pd = pytest.importorskip("pandas", reason="pair tables need the app extra")
    from noisypairs.tables import PairTable

    pairs = crowd.pairs
    weight = np.random.default_rng(0).uniform(1.0, 3.0, pairs.n_pairs)
    columns = {"left": pairs.left, "right": pairs.right, "same": pairs.same, "weight": weight}
    who = np.asarray(pairs.annotator_names)[pairs.annotator]
    pd.DataFrame(columns | {"annotator": who}).to_parquet(tmp_path / "pairs.parquet")
    table = PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=pairs.n_items)
    monkeypatch.setattr(joint, "SEARCH_PAIRS", pairs.n_pairs - 50)
    found = annotator_table(table, random_state=0)
    names = np.array([row.name for row in found])
    expected = [weight[who.astype(names.dtype) == name].sum() for name in names]
    np.testing.assert_allclose(found.answer_weight, expected, rtol=1e-5)


def test_bias_and_skill_are_those_of_the_simulated_people():
    rng = np.random.default_rng(0)
    R, K = 40, 3
    bias, skill = rng.normal(0, 0.8, R), rng.normal(0, 0.6, R)
    total = np.where(np.arange(R) < 20, 400.0, 5.0)[:, None, None] * np.ones((R, K, K))
    odds = np.where(np.eye(K) > 0, 1.5, -1.5) + bias[:, None, None]
    chance = expit(odds + skill[:, None, None] * (np.eye(K) - 0.5))
    same = rng.binomial(total.astype(int), chance).astype(float)
    n = total.sum(axis=(1, 2)).astype(int)
    rows = table_from_counts(np.arange(R), n, same, total - same, np.ones((1, K)) / K).rows
    for name, truth in (("bias", bias), ("skill", skill)):
        found = [getattr(row, name) for row in rows]
        middle = np.array([one.estimate for one in found])
        truth = truth - truth[:20].mean() + middle[:20].mean()  # they are relative to the crowd
        assert abs(middle.mean()) < 0.15
        assert np.corrcoef(middle[:20], truth[:20])[0, 1] > 0.95
        inside = [one.low <= value <= one.high for one, value in zip(found, truth, strict=True)]
        assert np.mean(inside) >= 0.85  # 95% intervals of 40 people: below with chance .001
        wide = np.array([one.high - one.low for one in found])
        assert wide[20:].min() > wide[:20].max()  # few answers say less
    flat = rows[0].to_dict()
    assert flat["bias"] == rows[0].bias.estimate
    assert flat["skill_low"] == rows[0].skill.low


def test_grades_and_unsure_answers_reach_the_table():
    crowd = crowd_of(5, n_items=60)
    rng = np.random.default_rng(0)
    sure = rng.random(crowd.pairs.n_pairs) < 0.7
    said = np.where(crowd.pairs.same, np.where(sure, "4", "3"), np.where(sure, "1", "2"))
    said = np.where((crowd.pairs.annotator == 2) & (rng.random(len(said)) < 0.5), "0", said)
    graded = Pairs.from_levels(
        crowd.pairs.left, crowd.pairs.right, said, [1, 2, 3, 4], 0, 60, crowd.pairs.annotator
    )
    known = np.full(graded.n_pairs, -1)
    tables = [
        annotator_table(graded, model="classes", known=truth, n_drop=0, random_state=0)
        for truth in (None, np.where(np.arange(len(known)) < 300, crowd.pairs.same, known))
    ]
    share = (said == "0")[crowd.pairs.annotator == 2].mean()
    for table in tables:
        rows = table.rows
        assert [row.unsure for row in rows[:3]] == pytest.approx([0.0, 0.0, share])
        assert sum(row.n_answers for row in rows) == (said != "0").sum()
    assert tables[1].wrong_proba.shape == graded.yes_or_no().without_self_pairs().same.shape


def test_known_pairs_move_the_rates_where_classes_follow_everybody():
    """A fifth of the items look like the other class to all: classes alone say nobody errs."""
    rng = np.random.default_rng(1)
    y = np.arange(150) % 2
    looks = np.where(rng.random(150) < 0.2, 1 - y, y)
    left = rng.integers(150, size=3000)
    right = (left + rng.integers(1, 150, 3000)) % 150
    same = (looks[left] == looks[right]) ^ (rng.random(3000) < 0.05)
    pairs = Pairs(left, right, same, 150, annotator=np.tile(np.arange(10), 300))
    truth = y[left] == y[right]
    known = np.where(rng.random(3000) < 0.1, truth, -1).astype(np.int8)
    settings = {"model": "classes", "n_drop": 0, "random_state": 0}
    blind = annotator_table(pairs, **settings).crowd
    told = annotator_table(pairs, known=known, **settings).crowd
    wrong = (same != truth)[truth].mean()
    assert blind.similar_flip.high < wrong
    assert wrong in told.similar_flip
    assert told.similar_flip.high < 0.6
