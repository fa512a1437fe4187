"""Dates as people write them, against Python's own calendar."""

from __future__ import annotations

import datetime

import pytest

from noisypairs.app.files.dates import days, kind_of_dates, read_dates

DAYS = [datetime.date(2024, 12, 31), datetime.date(1999, 2, 3), datetime.date(2023, 11, 13)]


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("%Y-%m-%d", "date"),
        ("%Y/%m/%d", "date"),
        ("%Y-%m-%dT10:20:30Z", "date"),
        ("%m/%d/%Y", "date"),
        ("%d/%m/%Y", "day-first date"),
        ("%d.%m.%Y", "day-first date"),
        ("%d-%m-%Y 10:15", "day-first date"),
        ("%d %b %Y", "date"),
        ("%B %d, %Y", "date"),
    ],
)
def test_every_form_gives_the_same_days(form, kind):
    texts = [day.strftime(form) for day in DAYS]
    assert kind_of_dates(texts) == (kind, 0)
    found = read_dates([*texts, "", "soon"], kind)
    assert [stamp.date() for stamp in found[:3]] == DAYS
    assert found[3:].isna().all()


def test_day_and_month_that_nobody_can_tell_apart():
    assert kind_of_dates(["1/2/2024", "3/4/2024"]) == ("unclear date", 0)
    assert kind_of_dates(["1.2.2024", "3.4.2024"]) == ("day-first date", 0)
    assert kind_of_dates(["13/1/2024", "1/13/2024"]) is None  # half of them are no dates


def test_a_few_cells_may_be_no_dates():
    good = [f"2024-01-{k:02d}" for k in range(1, 29)] * 2
    assert kind_of_dates([*good, "soon"]) == ("date", 1)
    assert kind_of_dates([*good, *["soon"] * 4]) is None


def test_days_are_counted_from_1970():
    assert days(read_dates(["1970-01-08T06:00"])).tolist() == [7.25]
