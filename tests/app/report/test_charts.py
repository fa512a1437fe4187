"""The pictures: the page's colours and fonts, ids of their own, the numbers that were given."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache
from importlib import resources

import numpy as np
import pytest
from matplotlib.figure import Figure

from noisypairs.app.report import charts
from noisypairs.app.report.picture import COLOURS
from tests.app.report.report_problems import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


PICTURES = {
    "learning_curve": lambda: charts.learning_curve(
        [100, 200, 400],
        [0.7, 0.8, 0.9],
        ([0.6, 0.7, 0.85], [0.8, 0.9, 0.95]),
        fitted=([100, 800], [0.7, 0.95]),
        fitted_interval=([0.6, 0.9], [0.8, 1.0]),
        target=0.92,
        ceiling=0.97,
    ),
    "learning_curve without extras": lambda: charts.learning_curve([1, 2], [0.7, 0.6]),
    "reliability": lambda: charts.reliability([0.2, 0.8], [0.3, 0.7], [5, 9], ([0, 0.6], [1, 0.8])),
    "annotator_plot": lambda: charts.annotator_plot(
        [HOSTILE, "b"],
        [[0.1, 0.2], [0.5, 0.6]],
        [[0.0, 0.1], [0.4, 0.5]],
        [[0.2, 0.3], [0.6, 0.7]],
        truth=[[0.1, 0.1], [0.5, 0.5]],
        stressed=[True, False],
    ),
    "bars": lambda: charts.bars(
        ["a", "b", "c"],
        [0.9, None, 0.5],
        ([0.8, None, 0.4], [0.95, None, 0.6]),
        baseline=[False, False, True],
    ),
    "heat_map": lambda: charts.heat_map([HOSTILE, "b"], [[0.9, 0.25], [0.25, 1.0]]),
}


@cache
def drawn(name: str) -> str:
    return PICTURES[name]()


def words(picture: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(picture).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_belongs_to_its_page(name):
    picture = drawn(name)
    root = ET.fromstring(picture)  # well-formed, whatever the names
    assert picture.startswith("<svg")
    assert "viewBox" in root.attrib
    assert not {"width", "height"} & set(root.attrib)
    assert re.search(r"<metadata|<style|<script|xlink|DejaVu", picture) is None
    assert re.findall(r'(?:src|href)="(?!#)', picture) == []
    colours = set(re.findall(r"(?<!, )#[0-9a-f]{6}\b(?![^<]*</text>)", picture))
    assert colours == set(), "a colour that does not follow the page"
    assert not any(stand_in in picture for stand_in in COLOURS)
    assert len(words(picture)) > 3  # text stays text


@pytest.mark.parametrize("name", PICTURES)
def test_the_same_data_give_the_same_bytes(name):
    assert PICTURES[name]() == drawn(name)


def test_no_two_pictures_share_an_id():
    ids = [set(re.findall(r' id="([^"]+)"', drawn(name))) for name in PICTURES]
    assert all(ids)
    assert len(set.union(*ids)) == sum(map(len, ids))


def test_every_id_is_referred_to_and_every_reference_leads_somewhere():
    for picture in map(drawn, PICTURES):
        referred = set(re.findall(r'(?:href="|url\()#([^")]+)', picture))
        assert referred == set(re.findall(r' id="([^"]+)"', picture))


def test_the_colours_behind_the_variables_are_those_of_the_page():
    css = resources.files("noisypairs.app.report").joinpath("page.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([\w-]+): (#\w{6})", css.split("@media")[0]))
    assert {name: light[name] for name, _ in COLOURS.values()} == dict(COLOURS.values())


def test_hostile_names_are_text_and_cut():
    shown = [word for word in words(drawn("annotator_plot")) if "script" in word]
    harmless = HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    assert shown == [harmless[: charts.LONGEST_NAME - 1] + "…"]


def test_what_looks_like_markup_of_ours_is_left_alone_in_names():
    name = '#110101 id="a" url(#b)'
    assert name in words(charts.bars([name], [0.5]))


def test_names_in_scripts_without_a_glyph_at_hand_raise_no_warning():
    assert "日本" in words(charts.bars(["日本", "b"], [0.5, 0.6]))


def test_bars_write_their_values_and_say_what_is_missing():
    shown = words(drawn("bars"))
    assert {"90.0%", "refuses", "50.0%", "a", "b", "c"} <= set(shown)


def heights(picture: str) -> dict[str, tuple[float, float]]:
    """Return (left, width) of the filled bars by their colour's name."""
    found = {}
    for d, name in re.findall(r'<path d="([^"]+)"[^>]*style="fill: var\(--([\w-]+)', picture):
        x = [float(pair.split()[0]) for pair in re.findall(r"[ML] ([-\d.]+ [-\d.]+)", d)]
        found[name] = (min(x), max(x) - min(x))
    return found


def test_bars_are_as_long_as_their_values():
    bars = heights(charts.bars(["a", "b"], [0.8, 0.2], baseline=[False, True]))
    (left, long), (also_left, short) = bars["series-1"], bars["soft"]
    assert left == also_left
    assert long / short == pytest.approx(4.0, rel=1e-3)


def test_legends_appear_where_there_is_more_than_one_thing_to_tell():
    assert "measured" in words(drawn("learning_curve"))
    assert "target 92.0%" in words(drawn("learning_curve"))
    assert "measured" not in words(drawn("learning_curve without extras"))


def test_percent_signs_stand_where_shares_are():
    assert any(word.endswith("%") for word in words(drawn("learning_curve")))


def test_a_heat_map_writes_its_chances_unless_there_is_no_room():
    assert {"90%", "25%", "100%"} <= set(words(drawn("heat_map")))
    many = charts.heat_map([f"kind {k}" for k in range(13)], np.full((13, 13), 0.5))
    assert "50%" not in words(many)
    assert many.count("called “same”: 50.0%") == 13 * 13


def test_any_figure_becomes_a_picture():
    figure = Figure()
    figure.subplots().plot([0, 1], [0, 1])
    assert ET.fromstring(charts.svg(figure)).tag == f"{SVG}svg"
