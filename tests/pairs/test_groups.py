"""Groups of items: read, carried along wherever items are taken, found in identical rows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.estimators.base import in_order
from noisypairs.pairs.groups import (
    as_numbers,
    check_groups,
    group_number,
    item_groups,
    look_copied,
    n_sharing,
    row_hashes,
)
from noisypairs.pairs.pairs import (
    drawn_at_random,
    in_memory,
    keys_of,
    pooled_answers,
    sorted_answers,
)

NAMES = ["b", "a", "b", "c", "a"]


@pytest.fixture
def pairs():
    return Pairs([0, 1, 2, 3], [1, 2, 3, 3], [1, 0, 1, 1], n_items=5, groups=NAMES)


def names_of(pairs):
    return pairs.group_names[pairs.groups].tolist()


# --- reading them ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups",
    [
        NAMES,
        tuple(NAMES),
        np.array(NAMES),
        np.array(NAMES, dtype=object),
        pd.Series(NAMES),
        pd.Series(NAMES, dtype="category"),
        pl.Series(NAMES),
        pa.chunked_array([NAMES[:2], NAMES[2:]]),
        [" b", "a ", "b", "c\n", "a"],
        [np.str_(name) for name in NAMES],
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_texts_of_any_kind_of_column_become_codes(groups):
    pairs = Pairs([0], [1], [1], n_items=5, groups=groups)
    assert pairs.groups.dtype == np.int32
    assert pairs.groups.tolist() == [1, 0, 1, 2, 0]
    assert pairs.group_names.tolist() == ["a", "b", "c"]
    assert group_number(pairs.groups) == 3


@pytest.mark.parametrize(
    ("groups", "codes"),
    [
        ([7, 7, 3], [1, 1, 0]),
        (np.array([7, 7, 3], dtype=np.uint8), [1, 1, 0]),
        ([(1, "x"), (1, "y"), (1, "x")], [0, 1, 0]),
        ([1, "1", 1], [0, 1, 0]),
        ([True, False, True], [1, 0, 1]),
        (np.array(["2024-02-01", "2024-01-01", "2024-02-01"], "M8[ns]"), [1, 0, 1]),
        (pd.Series([2, 2, 1], dtype="Int64"), [1, 1, 0]),
    ],
)
def test_groups_may_be_anything_that_can_be_compared(groups, codes):
    assert check_groups(groups, 3)[0].tolist() == codes


@pytest.mark.parametrize(
    "groups",
    [
        ["a", None, "a", float("nan"), ""],
        np.array(["a", np.nan, "a", None, " "], dtype=object),
        ["a", pd.NA, "a", pd.NaT, np.nan],
        pd.Series(["a", None, "a", None, None]),
        pl.Series(["a", None, "a", None, None]),
        np.ma.array([4, 5, 4, 5, 5], mask=[0, 1, 0, 1, 1]),
        pl.Series([4, None, 4, None, None]),
        np.array(["2024-02-01", "NaT", "2024-02-01", "NaT", "NaT"], "M8[D]"),
    ],
)
def test_an_item_without_a_group_is_one_of_its_own(groups):
    codes, names = check_groups(groups, 5)
    assert codes.tolist() == [0, 1, 0, 2, 3]
    assert names.tolist()[1:] == [None] * 3


def test_codes_do_not_depend_on_the_order_of_the_items():
    rng = np.random.default_rng(0)
    names = rng.choice(["p", "q", "r", "s"], 50)
    order = rng.permutation(50)
    assert (check_groups(names, 50)[0][order] == check_groups(names[order], 50)[0]).all()
    mixed = [1, "b", (2,), "a", 1.5]
    assert check_groups(mixed, 5)[1].tolist() == check_groups(mixed[::-1], 5)[1].tolist()


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (["a", "b"], ValueError, "groups has 2 entries but there are 3 items: give one per item"),
        (["a"] * 3, ValueError, "all 3 items into one group, 'a': expected two groups or more"),
        (np.zeros((3, 1)), ValueError, r"shape \(3, 1\), expected \(3,\).*ravel"),
        (np.array("a"), ValueError, r"shape \(\), expected \(3,\)"),
        ("patient", TypeError, "groups is a str, 'patient': expected one group for each of the 3"),
        ({0: "a"}, TypeError, "groups is a dict"),
        ([["a"], ["b"], ["c"]], TypeError, "groups has a list for item 0"),
    ],
)
def test_wrong_groups_are_refused_with_a_reason(groups, error, message):
    for build in (
        lambda: Pairs([0, 1], [1, 2], [1, 0], groups=groups),
        lambda: Pairs([0, 1], [1, 2], [1, 0]).with_groups(groups),
    ):
        with pytest.raises(error, match=message):
            build()


def test_one_item_alone_is_one_group():
    assert Pairs([0], [0], [1], groups=["a"]).groups.tolist() == [0]


# --- carrying them along -----------------------------------------------------------------------


def test_groups_follow_their_items(pairs):
    taken = pairs[[4, 0, 3]]
    assert names_of(taken) == ["a", "b", "c"]
    assert pairs[[True, False, True, False, False]].groups.tolist() == [1, 1]  # one group is left
    assert pairs[:2][[1, 0]].group_names.tolist() == ["a", "b", "c"]
    assert group_number(pairs[[0, 2]].groups) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda pairs: pairs.select([0, 2]),
        lambda pairs: pairs.with_labels({0: "cat"}),
        lambda pairs: pairs.with_answers([0], [4], ["same"]),
        lambda pairs: pairs.with_answers([], [], []),
        lambda pairs: pairs.select([]).with_answers([0], [4], [1], chosen=[True]),
        lambda pairs: pairs.reweighted([1, 2, 3, 4]),
        lambda pairs: pairs.without_self_pairs(),
        lambda pairs: pairs.without_copies(),
        lambda pairs: drawn_at_random(pairs.with_answers([0], [4], [1], chosen=[1])),
        lambda pairs: in_memory(pairs, 2),
        pooled_answers,
        lambda pairs: sorted_answers(pairs)[0],
        lambda pairs: pickle.loads(pickle.dumps(pairs)),
        copy.copy,
        copy.deepcopy,
    ],
)
def test_groups_survive_what_happens_to_answers(pairs, change):
    changed = change(pairs)
    assert names_of(changed) == NAMES
    assert not changed.groups.flags.writeable
    assert not changed.group_names.flags.writeable


def test_groups_are_shown_compared_and_taken_off(pairs):
    assert repr(pairs).endswith("different=1, groups=3)")
    without = pairs.with_groups(None)
    assert (without.groups, without.group_names) == (None, None)
    assert "groups" not in repr(without)
    assert pairs != without
    assert pairs == without.with_groups(NAMES)
    assert pairs != without.with_groups(["b", "a", "b", "c", "c"])
    assert pairs[[0, 1]] == without[[0, 1]].with_groups(["b", "a"])  # codes differ, groups do not
    unknown = without.with_groups(["a", None, "a", None, "b"])
    assert unknown == without.with_groups(["a", np.nan, "a", "", "b"])


def test_the_callers_array_stays_theirs():
    codes = np.array([0, 1, 1], dtype=np.int32)
    pairs = Pairs([0], [1], [1], n_items=3, groups=codes)
    codes[:] = 5
    assert pairs.groups.tolist() == [0, 1, 1]


def test_pickles_of_older_versions_have_no_groups(pairs):
    state = pairs.__getstate__()
    del state["groups"], state["group_names"]
    older = Pairs.__new__(Pairs)
    older.__setstate__(state)
    assert (older.groups, older.group_names) == (None, None)


def test_a_pair_table_carries_them_too(tmp_path):
    pytest.importorskip("ibis", reason="pair tables need the app extra")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pair tables need the app extra")
    from noisypairs import PairTable
    from noisypairs.pairs import Answers

    columns = pa.table({"left": [0, 1, 2], "right": [1, 2, 3], "same": [1, 0, 1]})
    parquet.write_table(columns, tmp_path / "pairs.parquet")
    table = PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=5)
    assert isinstance(table, Answers)
    assert (table.groups, table.to_pairs().groups) == (None, None)
    grouped = table.with_groups(NAMES)
    assert group_number(grouped.groups) == 3
    for found in (
        grouped.to_pairs(),
        grouped.sample(2),
        grouped.with_labels({0: "cat"}),
        grouped.without_self_pairs(),
        pickle.loads(pickle.dumps(grouped)),
    ):
        assert names_of(found) == NAMES
    assert (
        names_of(grouped[[4, 0, 3]]) == names_of(grouped[[4, 0, 3]].to_pairs()) == ["a", "b", "c"]
    )
    assert grouped[[0, 2]].to_pairs().groups.tolist() == [1, 1]
    assert grouped.with_groups(None).groups is None
    with pytest.raises(ValueError, match="groups has 2 entries but there are 5 items"):
        table.with_groups(["a", "b"])


class Knows(ClassifierMixin, BaseEstimator):
    """Keeps the groups that it was fitted on, and scores by those it has seen."""

    def fit(self, X, y):  # noqa: ARG002
        self.seen_ = set(y.groups)
        return self

    def score(self, X, y):  # noqa: ARG002
        return len(self.seen_ & set(y.groups))


def test_scikit_learns_group_splitters_take_them():
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(40, 2)), np.repeat(np.arange(10), 4)
    left, right = rng.integers(40, size=(2, 200))
    pairs = Pairs(left, right, rng.random(200) < 0.5, n_items=40, groups=names)
    for train, test in GroupKFold(5).split(X, pairs, groups=pairs.groups):
        assert not set(pairs[train].groups) & set(pairs[test].groups)
    by_group = {"groups": pairs.groups, "cv": GroupKFold(4)}
    assert cross_val_score(Knows(), X, pairs, **by_group).tolist() == [0.0] * 4
    assert cross_val_score(Knows(), X, pairs, cv=KFold(4, shuffle=True, random_state=0)).min() > 0


def test_equal_items_of_other_groups_are_told_apart_in_any_order():
    left, right = [0, 1, 2, 3], [4, 4, 5, 5]  # items 0 to 3 differ by their groups alone
    X, names = np.array([[1.0]] * 4 + [[2.0]] * 2), np.array(["p", "q", "q", "p", "r", "s"])
    given = Pairs(left, right, [1, 1, 1, 1], groups=names)
    expected = in_order(X, given)[1]
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(6)
        assert in_order(X[order], given[order])[1] == expected


# --- the group of each item --------------------------------------------------------------------

COPIES = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    "X",
    [
        COPIES,
        COPIES.tolist(),
        pd.DataFrame(COPIES),
        pl.DataFrame(COPIES, schema=["a", "b"]),
        sparse.csr_array(COPIES),
        sparse.coo_matrix(COPIES),
        pd.DataFrame({"name": ["x", "y", "x", "y", "z"]}),
    ],
    ids=lambda X: type(X).__name__,
)
def test_identical_rows_are_one_group_and_given_groups_win(pairs, X):
    codes = item_groups(X, pairs.with_groups(None))
    assert sorted(set(codes.tolist())) == [0, 1, 2]
    assert codes[0] == codes[2] != codes[1] == codes[3]
    assert item_groups(X, pairs).tolist() == pairs.groups.tolist()


def test_without_rows_every_item_is_a_group(pairs):
    assert item_groups(None, pairs.with_groups(None)).tolist() == [0, 1, 2, 3, 4]
    assert item_groups(None, pairs[[3, 0]]).tolist() == [1, 0]  # codes have no gaps


def test_rows_and_items_must_be_as_many(pairs):
    with pytest.raises(ValueError, match="X has 4 rows but the pairs are about 5 items"):
        item_groups(COPIES[:4], pairs)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20))
def test_items_share_a_group_exactly_where_their_rows_are_equal(rows):
    codes = item_groups(np.array(rows, dtype=float), Pairs([0], [0], [1], n_items=len(rows)))
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (codes[i] == codes[j]) == (one == other)
    shared = [one for one in rows if rows.count(one) > 1]
    assert n_sharing(codes) == len(shared)


def partition(values):
    """Return the same codes for the same partition, whatever its groups are called."""
    code = {}
    return [code.setdefault(value, len(code)) for value in np.asarray(values).tolist()]


ROWS = np.array([[0.0, 1.5], [1.5, 0.0], [0.0, 1.5], [np.nan, 1.0], [np.nan, 1.0], [1.0, np.nan]])
SAME = [0, 1, 0, 2, 2, 3]


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        ROWS.tolist(),
        np.asfortranarray(ROWS),
        ROWS.astype(np.float32),
        pd.DataFrame(ROWS, columns=["a", "b"]),
        pl.DataFrame(ROWS, schema=["a", "b"]),
        sparse.csr_array(ROWS),
        sparse.csc_matrix(ROWS),
        sparse.coo_array(ROWS),
        ROWS.reshape(6, 2, 1),
        np.where(np.isnan(ROWS), None, ROWS),
    ],
    ids=lambda table: type(table).__name__,
)
def test_equal_rows_have_equal_hashes_in_every_kind_of_table(table):
    hashes = row_hashes(table)
    assert hashes.dtype == np.uint64
    assert partition(hashes) == SAME


def test_a_sparse_matrix_has_the_hashes_of_the_same_matrix_in_full():
    rng = np.random.default_rng(0)
    full = rng.poisson(0.2, size=(200, 30)).astype(float)
    stored = sparse.csr_array(full)
    stored.data[::7] = 0.0  # stored zeros are zeros
    full = stored.toarray()
    twice = sparse.csr_array(([1.0, 2.0], [3, 3], [0, 2]), shape=(1, 30))  # 1 + 2 in one cell
    three = np.zeros((1, 30))
    three[0, 3] = 3.0
    assert (row_hashes(stored) == row_hashes(full)).all()
    assert (row_hashes(twice) == row_hashes(three)).all()
    assert twice.nnz == 2  # the caller's matrix stays as it is


def test_signs_of_zero_and_forms_of_missing_do_not_matter():
    odd = np.array([0x7FF8000000000123], dtype=np.uint64).view(float)[0]  # a NaN of another form
    assert partition(row_hashes([[0.0], [-0.0], [np.nan], [odd], [np.inf], [-np.inf]])) == [
        *(0, 0, 1, 1),
        *(2, 3),
    ]


def test_values_that_change_places_are_another_row():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(8) for _ in range(3000)], dtype=float)
    hashes = row_hashes(rows)
    assert np.unique(hashes).size == np.unique(rows, axis=0).shape[0]
    assert partition(row_hashes([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [0.0, 0.0]])) == [
        0,
        1,
        2,
        3,
    ]


def test_whole_numbers_differ_and_errors_of_rounding_do_not():
    whole = np.array([[2.0**27], [2.0**27 + 1], [1e-12], [2e-12]])
    assert partition(row_hashes(whole)) == [0, 1, 2, 3]
    assert partition(row_hashes([[0.3, 1e-9], [0.1 + 0.2, 1e-9]])) == [0, 0]
    X = np.repeat(np.random.default_rng(0).normal(size=(137, 64)), 4, axis=0)
    turned = PCA(10, random_state=0).fit_transform(X)
    assert partition(row_hashes(turned)) == partition(row_hashes(X))


def test_columns_of_every_type_count():
    table = pd.DataFrame(
        {
            "text": ["a", "a", "a", "a", None],
            "day": pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-02", None, None]),
            "flag": [True, True, True, True, False],
            "level": pd.Categorical(["x", "x", "x", "x", "y"]),
            "count": pd.array([1, 1, 1, 1, None], dtype="Int64"),
        }
    )
    assert partition(row_hashes(table)) == [0, 0, 1, 2, 3]
    assert partition(row_hashes(["one text", "another", "one text"])) == [0, 1, 0]


def test_tables_without_rows_or_columns():
    assert row_hashes(np.zeros((0, 3))).shape == (0,)
    assert partition(row_hashes(np.zeros((3, 0)))) == [0, 0, 0]
    assert as_numbers(np.zeros((0, 3))).shape == (0, 3)


def test_rows_beyond_one_block_are_hashed_alike():
    wide = np.zeros((6, 200_000))  # two rows do not fit into a block
    wide[3:, -1] = 1.0
    assert partition(row_hashes(wide)) == [0, 0, 0, 1, 1, 1]


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans(), st.sampled_from("ab")),
    min_size=1,
    max_size=30,
)


@given(rows)
def test_copies_are_those_that_enumeration_has_seen_before(answers):
    left, right, same, who = zip(*answers, strict=True)
    pairs = Pairs(left, right, same, 4, annotator=who)
    names = [(frozenset((a, b)), s, w) for a, b, s, w in answers]
    again = [name in names[:k] for k, name in enumerate(names)]
    kept = pairs.without_copies()
    assert kept == pairs.select(~np.array(again))
    assert kept.n_pairs == len(set(names))
    assert pairs.audit().copies == sum(again)
    report = kept.audit()
    assert (report.copies, report.copies_removed) == (0, sum(again))


def test_a_contradiction_another_annotator_or_another_weight_is_no_copy():
    pairs = Pairs([0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 1], annotator=["a", "a", "b", "a"])
    assert pairs.without_copies() == pairs.select([0, 1, 2])
    assert pairs.reweighted([1, 1, 1, 2]).without_copies().n_pairs == 4
    assert "copies            1 among these answers, 0 left out" in str(pairs.audit())


def test_without_copies_of_pairs_without_any_is_the_same_object():
    pairs = Pairs([0, 1], [1, 2], [1, 1])
    assert pairs.without_copies() is pairs


@pytest.mark.parametrize("times", [2, 3])
def test_recorded_several_times_looks_copied_however_noisy(times):
    pairs = sample_pairs([0, 1] * 15, 600, PairingNoise(0.3, 0.3), random_state=0)
    key, same = keys_of(pairs), pairs.same
    assert look_copied(np.tile(key, times), np.tile(same, times))
    assert not look_copied(key, same)  # many repeats, some answered both ways


def test_three_people_who_err_do_not_look_copied():
    pairs = sample_pairs([0, 1] * 100, 400, random_state=0)
    left, right = np.tile(pairs.left, 3), np.tile(pairs.right, 3)
    same = PairingNoise(0.05, 0.05).corrupt([0, 1] * 100, left, right, random_state=0)
    asked = Pairs(left, right, same)
    assert not look_copied(keys_of(asked), asked.same)
