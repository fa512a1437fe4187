"""The audit against enumeration over all pairs and triples of items."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisypairs.pairs import Pairs, audit
from noisypairs.pairs.audit import Triangles, audit_pairs, count_triangles

N = 7
answer_lists = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.booleans()), max_size=40
)


def by_pair(rows):
    answers = defaultdict(list)
    for left, right, same in rows:
        if left != right:
            answers[frozenset((left, right))].append(same)
    return answers


def components_by_merging(edges, n_items):
    groups = [{item} for item in range(n_items)]
    for edge in edges:
        touched = [group for group in groups if group & edge]
        groups = [group for group in groups if not group & edge] + [set().union(*touched)]
    return groups


def triangles_by_enumeration(rows, n_items):
    votes = {pair: sum(2 * s - 1 for s in given) for pair, given in by_pair(rows).items()}
    closed = broken = 0
    for triple in itertools.combinations(range(n_items), 3):
        sides = [votes.get(frozenset(side), 0) for side in itertools.combinations(triple, 2)]
        closed += all(sides)
        broken += all(sides) and sum(side > 0 for side in sides) == 2
    return closed, broken


@given(answer_lists)
def test_every_count_agrees_with_enumeration(rows):
    left, right, same = (
        (np.array(column, int) for column in zip(*rows, strict=True))
        if rows
        else (np.zeros((3, 0), int))
    )
    report = audit_pairs(Pairs(left, right, same, N))
    answers = by_pair(rows)
    groups = components_by_merging(answers, N)
    degree = [sum(item in (a, b) for a, b, _ in rows if a != b) for item in range(N)]
    assert report.n_pairs == len(rows)
    assert report.same_share == (pytest.approx(np.mean(same)) if rows else None)
    assert report.self_pairs == sum(a == b for a, b, _ in rows)
    assert report.repeated_pairs == sum(len(given) > 1 for given in answers.values())
    assert report.repeated_answers == sum(len(given) - 1 for given in answers.values())
    assert report.contradictions == sum(len(set(given)) == 2 for given in answers.values())
    assert report.isolated_items == degree.count(0)
    assert report.components == len(groups)
    assert report.largest_component == max(map(len, groups))
    assert (report.degree.min, report.degree.max) == (min(degree), max(degree))
    assert report.degree.median == np.median(degree)
    assert report.degree.mean == pytest.approx(np.mean(degree))
    assert (report.triangles.closed, report.triangles.broken) == triangles_by_enumeration(rows, N)


def complete_graph(n_items, seed=0):
    low, high = np.triu_indices(n_items, 1)
    return low, high, np.random.default_rng(seed).random(low.size) < 0.4


def test_blocks_of_rows_do_not_change_the_count(monkeypatch):
    low, high, same = complete_graph(30)
    rows = list(zip(low.tolist(), high.tolist(), same.tolist(), strict=True))
    expected = Triangles(*triangles_by_enumeration(rows, 30))
    assert count_triangles(low, high, same, 30) == expected
    monkeypatch.setattr(audit, "WEDGES_AT_ONCE", 50)
    assert count_triangles(low, high, same, 30) == expected


def test_beyond_the_limit_a_sample_estimates_both_counts():
    rng = np.random.default_rng(1)
    low, high, same = complete_graph(60)
    kept = rng.random(low.size) < 0.5
    low, high, same = low[kept], high[kept], same[kept]
    exact = count_triangles(low, high, same, 60)
    sampled = count_triangles(low, high, same, 60, max_wedges=0)
    assert not exact.sampled
    assert sampled.sampled
    # One million draws: the relative standard error of the smaller count is below 0.3 %.
    assert sampled.closed == pytest.approx(exact.closed, rel=0.012)
    assert sampled.broken == pytest.approx(exact.broken, rel=0.012)
    assert sampled == count_triangles(low, high, same, 60, max_wedges=0)


def test_clean_classes_break_no_triangle_and_one_lie_does():
    classes = np.random.default_rng(3).integers(3, size=20)
    low, high = np.triu_indices(20, 1)
    same = classes[low] == classes[high]
    report = Pairs(low, high, same).audit()
    assert report.triangles == Triangles(closed=20 * 19 * 18 // 6, broken=0)
    lied = same.copy()
    lied[np.argmax(same)] = False
    assert Pairs(low, high, lied).audit().triangles.broken > 0


def test_weights_decide_the_majority_and_the_share():
    triangle = Pairs([0, 1, 0, 2], [1, 2, 2, 0], [1, 1, 0, 1], weight=[1, 1, 3, 1])
    assert triangle.audit().triangles == Triangles(closed=1, broken=1)
    assert triangle.audit().same_share == pytest.approx(3 / 6)
    tied = triangle.reweighted(None)
    assert tied.audit().triangles == Triangles(closed=0, broken=0)
    assert tied.audit().triangles.broken_share is None
    assert tied.audit().contradictions == 1


def test_annotators_are_summarised_over_those_who_answered():
    pairs = Pairs([0, 0, 1], [1, 2, 2], [1, 0, 1], annotator=["b", "a", "b"])
    report = pairs.audit()
    assert report.n_annotators == 2
    assert report.answers_per_annotator == audit.Summary(1, 1.5, 1.5, 2)
    assert pairs.select([0]).audit().n_annotators == 1


def test_the_report_reads_as_text_and_as_json():
    report = Pairs([0, 1, 0], [1, 2, 2], [1, 1, 0], n_items=5, annotator=[7, 7, 8]).audit()
    text = str(report)
    assert "5 (2 isolated)" in text
    assert "1 closed, 1 broken (100.0%)" in text
    assert "annotators" in text
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["triangles"] == {
        "closed": 1,
        "broken": 1,
        "sampled": False,
        "broken_share": 1.0,
    }
    assert plain["degree"]["max"] == 2


def test_nothing_at_all_can_be_audited():
    report = Pairs([], [], [], n_items=0).audit()
    assert (report.n_items, report.components, report.largest_component) == (0, 0, 0)
    assert report.same_share is None
    assert "no answers" in str(report)
    assert Pairs([], [], [], n_items=3).audit().components == 3
