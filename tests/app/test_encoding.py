"""Columns to numbers, against computations by hand and by other parts of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from noisypairs.app import encoding
from noisypairs.app.encoding import (
    FAR,
    MANY_LEVELS,
    Cells,
    Directions,
    column_values,
    describe,
    item_encoder,
    known_levels,
    unread,
)


def kinds(**columns: object) -> dict[str, str]:
    return {plan.name: plan.kind for plan in describe(pd.DataFrame(columns))}


def encoded(frame: pd.DataFrame, new: pd.DataFrame | None = None) -> pd.DataFrame:
    encoder = item_encoder(frame).fit(frame)
    values = encoder.transform(frame if new is None else new)
    assert np.isfinite(values).all()
    return pd.DataFrame(values, columns=encoder.get_feature_names_out())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.0, np.nan, 4.0], "number"),
        (["1", " 2.5", "?", "-3e2"], "number"),
        (["007", "012", "007", "300"], "category"),  # codes are names
        ([True, False, True, True], "boolean"),
        (["true", None, "False", "true"], "boolean"),
        (["red", "blue", "red", None], "category"),
        (["x", "y", "z", "w"], "id"),
        (["2024-01-05", "2024-02-01T10:00", None, "2023-12-31"], "date"),
        (["2024-13-45", "2024-13-45", "2024-01-01", "2024-01-01"], "category"),  # no such month
        (["31/12/2024", "1/2/2024", None, "5/5/2024"], "day-first date"),
        (["1/2/2024", "3/4/2024", "1/2/2024", None], "unclear date"),
        (["https://a.org/x?y=1", "https://a.org/x?y=1", "http://b.org", None], "address"),
        (["/img/a.jpg", "/img/a.jpg", "/img/b", r"C:\x\y"], "address"),
        (["a.png", "b.png", "a.png", "b.JPEG"], "address"),
        (["booking.com", "booking.com", "hotel.de", "hotel.de"], "category"),
        (pd.to_datetime(["2024-01-05", "2024-02-01", None, "2023-12-31"]), "date"),
        (["a red house", "an old green car", "the big one", "so it is"], "text"),
        (["same"] * 4, "constant"),
        ([3.0] * 4, "constant"),
        ([None] * 4, "constant"),
        (["same", None, None, "same"], "category"),  # its absence may say something
    ],
)
def test_what_a_column_is_taken_for(values: object, kind: str) -> None:
    assert kinds(column=values) == {"column": kind}


def test_numbers_that_name_items_are_left_out_by_their_name_alone() -> None:
    assert kinds(photo_id=[1, 2, 3], size=[1, 2, 3], group_id=[1, 1, 2]) == {
        "photo_id": "id",
        "size": "number",
        "group_id": "number",
    }


def test_ids_and_running_numbers_are_left_out_with_the_reason() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(99)]
    table = pd.DataFrame(
        {
            "row": rng.permutation(100) + 1,
            "year": rng.permutation(np.arange(0, 200, 2)),
            "tag": [*words, "w0"],
            "sku": rng.permutation(10_000)[:100],
        }
    )
    assert {plan.name: (plan.kind, plan.note) for plan in describe(table)} == {
        "row": ("id", "left out: a running number"),
        "year": ("number", "numbers"),
        "tag": ("id", "left out: different in almost every row"),
        "sku": ("id", "left out: a name for each item"),
    }


def test_numbers_are_imputed_flagged_standardised_and_cut() -> None:
    values = np.append(np.arange(300.0), [np.nan, 1e9])
    found = encoded(pd.DataFrame({"size": values}))
    filled = np.where(np.isnan(values), np.nanmedian(values), values)
    expected = np.clip((filled - filled.mean()) / filled.std(), -FAR, FAR)
    assert expected.max() == FAR
    np.testing.assert_allclose(found.iloc[:, 0], expected)
    flag = np.isnan(values).astype(float)
    flag = np.clip((flag - flag.mean()) / flag.std(), -FAR, FAR)
    np.testing.assert_allclose(found.iloc[:, 1], flag)
    assert found.shape[1] == 2


def test_numbers_may_come_as_text_and_columns_in_any_order_with_others_besides() -> None:
    train = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [True, False, True]})
    new = pd.DataFrame({"more": [0, 0], "b": ["false", None], "a": [" 2", "4"]})
    found = encoded(train, new)
    assert found.iloc[0, 0] == pytest.approx(0.0)
    assert found.iloc[1, 0] == pytest.approx((4 - 2) / np.sqrt(2 / 3))
    mean, spread = 2 / 3, np.sqrt(2 / 9)
    np.testing.assert_allclose(found.iloc[:, 1], [(0 - mean) / spread, (1 - mean) / spread])


def test_rare_levels_share_a_column_and_unknown_ones_fall_there() -> None:
    train = pd.DataFrame({"colour": ["red"] * 5 + ["blue"] * 5 + ["teal", "mauve"]})
    new = pd.DataFrame({"colour": [" red ", "mauve", "never seen"]})
    found = encoded(train, new)
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 0, 1], [0, 0, 1]])  # blue, red, rare
    without_rare = encoded(pd.DataFrame({"colour": ["red", "red", "blue", "blue"]}), new)
    np.testing.assert_array_equal(without_rare.iloc[2], [0, 0])


def test_a_category_of_very_many_levels_is_read_by_its_letters() -> None:
    levels = pd.DataFrame({"c": np.repeat([f"code-{k}-of-{k % 7}" for k in range(200)], 3)})
    assert describe(levels)[0].note == "200 levels; read by their letters"
    found = encoded(levels)
    assert found.shape[1] <= 30
    distance = np.linalg.norm(found.to_numpy() - found.to_numpy()[0], axis=1)
    assert distance[1] == 0  # the same level
    assert distance[3:].min() > 0.1
    assert known_levels(item_encoder(levels).fit(levels)) == {"c": frozenset(levels["c"])}
    assert MANY_LEVELS < 200


def test_dates_become_seconds_and_cycles() -> None:
    texts = ["2024-01-01", "2024-01-08", "2024-07-01T06:00", None, "2023-05-05"]
    stamps = pd.to_datetime(pd.Series(texts), format="ISO8601")
    turns = {"month": (stamps.dt.month, 12), "weekday": (stamps.dt.day_of_week + 1, 7)}
    expected = {"seconds": (stamps - pd.Timestamp("1970-01-01")) / pd.Timedelta(seconds=1)}
    for name, (value, period) in turns.items():
        expected[f"{name}_circular_0"] = np.sin(2 * np.pi * value / period)
        expected[f"{name}_circular_1"] = np.cos(2 * np.pi * value / period)
    for frame in (pd.DataFrame({"seen": texts}), pd.DataFrame({"seen": stamps})):
        found = encoded(frame)
        for name, column in expected.items():
            filled = column.fillna(column.median())
            scaled = (filled - filled.mean()) / filled.std(ddof=0)
            (place,) = [c for c in found if c.endswith(name) and "missing" not in c]
            np.testing.assert_allclose(found[place], scaled, atol=1e-4)


def test_days_first_and_months_first_are_the_same_dates() -> None:
    texts = ["31/12/2024", "1/2/2024", "7/7/2023", None]
    other = ["12/31/2024", "2/1/2024", "7/7/2023", None]
    iso = ["2024-12-31", "2024-02-01", "2023-07-07", None]
    found = [encoded(pd.DataFrame({"d": one})).to_numpy() for one in (texts, other, iso)]
    np.testing.assert_allclose(found[0], found[2])
    np.testing.assert_allclose(found[1], found[2])
    fitted = item_encoder(pd.DataFrame({"d": texts})).fit(pd.DataFrame({"d": texts}))
    new = pd.DataFrame({"d": ["1/2/2024"]})  # alone it could be either
    np.testing.assert_allclose(fitted.transform(new)[0], found[0][1])
    assert unread(pd.DataFrame({"d": ["12/31/2024", "31/12/2024"]}), {"d": "day-first date"}) == [
        "column 'd': 1 cell is no day-first date and counts as missing, such as '12/31/2024'"
    ]


def test_text_has_a_bounded_width_and_missing_cells_and_empty_ones_are_alike() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(500)]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(100)]
    found = encoded(
        pd.DataFrame({"about": texts}), pd.DataFrame({"about": [None, "", "unknown words"]})
    )
    assert found.shape == (3, 30)
    np.testing.assert_allclose(found.iloc[0], found.iloc[1])


def test_a_column_that_is_empty_in_a_fold_keeps_its_place() -> None:
    whole = pd.DataFrame({"a": [1.0, 2.0, None, None], "b": [1.0, 2.0, 3.0, 5.0]})
    encoder = item_encoder(whole).fit(whole.iloc[2:])
    assert np.isfinite(encoder.transform(whole)).all()


def test_items_without_anything_to_learn_from_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"learn from: key \(id, left out: .*\); unit \(constant, l"
    ):
        item_encoder(pd.DataFrame({"key": ["x", "y", "z"], "unit": ["mm"] * 3}))
    with pytest.raises(ValueError, match="none at all"):
        item_encoder(pd.DataFrame(index=range(3)))
    with pytest.raises(TypeError, match="need names"):
        item_encoder(pd.DataFrame([[1.0], [2.0]]))


def test_cells_of_another_kind_are_told_not_swallowed() -> None:
    new = pd.DataFrame({"a": ["1", "big", "huge"], "b": ["x", "y", "z"], "d": ["2024-01-01"] * 3})
    told = {"a": "number", "b": "category", "d": "date"}
    assert unread(new, told) == [
        "column 'a': 2 cells are no numbers within ±1e+100 and count as missing, such as 'big'"
    ]
    assert unread(new.assign(d="soon"), {"d": "date"})[0].startswith("column 'd': 3 cells are no d")


def test_many_columns_of_numbers_are_read_as_each_of_them_is():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(20, 5000))).rename(columns="c{}".format)
    table["c1"] = pd.array([1, None] * 10, dtype="Int64")
    table["c2"] = rng.random(20) < 0.5
    table.iloc[3, 4:9] = [np.inf, -np.inf, np.nan, 1e99, -0.0]
    each = [column_values(table[name], "number") for name in table.columns]
    whole = Cells().fit_transform(table)
    np.testing.assert_array_equal(whole, np.column_stack(each))
    assert set(whole.dtypes) == {np.dtype(float)}
    assert unread(table, dict.fromkeys(table.columns, "number")) == [
        "column 'c4': 1 cell is no number within ±1e+100 and counts as missing, such as 'inf'",
        "column 'c5': 1 cell is no number within ±1e+100 and counts as missing, such as '-inf'",
    ]


def test_numbers_whose_squares_are_infinite_are_missing_and_noted() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"wild": rng.normal(size=40), "near": rng.normal(size=40)})
    frame.loc[[3, 7], "wild"] = 1e110, -1e300
    found = encoding.encoded(frame)
    assert found.X is not None
    assert np.isfinite(found.X).all()
    (note,) = found.notes
    assert note.startswith("column 'wild': 2 cells are no numbers within ±1e+100 and count as miss")


def test_columns_of_such_numbers_alone_are_left_out() -> None:
    frame = pd.DataFrame({"far": np.arange(1, 41) * 1e110, "near": np.arange(40) * 0.5})
    kinds = [(plan.kind, plan.note) for plan in describe(frame)]
    assert kinds[0] == ("constant", "left out: no number within ±1e+100")
    assert kinds[1] == ("number", "numbers")
    assert "far (constant, left out: no number within" in encoding.encoded(frame[["far"]]).nothing


def test_content_keeps_its_likeness_and_a_missing_row_is_the_mean() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 4)) * [5.0, 1.0, 0.1, 0.01] + 1
    rows[3] = np.nan
    found = Directions().fit(rows).transform(rows)
    known = np.arange(50) != 3
    unit = rows[known] / np.linalg.norm(rows[known], axis=1, keepdims=True)
    far = np.linalg.norm(unit[:, None] - unit, axis=2)
    ours = np.linalg.norm(found[known][:, None] - found[known], axis=2)
    np.testing.assert_allclose(ours * far[0, 1] / ours[0, 1], far, atol=1e-9)
    np.testing.assert_allclose(found[known].var(axis=0).mean(), 1.0)
    np.testing.assert_array_equal(found[3], 0)
    for same in (np.ones((3, 2)), np.full((3, 2), np.nan)):
        np.testing.assert_array_equal(Directions().fit_transform(same), np.zeros((3, 2)))
