"""What a fit is asked for: names and numbers checked, open questions read off the pairs."""

from __future__ import annotations

from typing import Any

import pytest

from noisypairs import NotIdentifiable, Pairs
from noisypairs.app.fit.request import Request, class_numbers, pair_classifier


@pytest.mark.parametrize("text", ["3", "2-5", " 4 - 4 "])
def test_numbers_of_classes(text: str) -> None:
    assert class_numbers(text) in (3, (2, 3, 4, 5), 4)


@pytest.mark.parametrize("text", ["", "1", "two", "5-2", "2-", "-3", "2-99", "2.5"])
def test_wrong_numbers_of_classes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        class_numbers(text)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"method": "jiont"}, "did you mean 'joint'"),
        ({"estimator": "forrest"}, "did you mean 'forest'"),
        ({"noise_model": "labelling"}, "did you mean 'labeling'"),
    ],
)
def test_misspelt_names_are_refused(given: dict[str, str], meant: str) -> None:
    with pytest.raises(ValueError, match=meant):
        Request(**given)


def test_what_is_left_open_is_read_off_the_pairs() -> None:
    plain = Pairs([0, 1], [1, 2], [True, False])
    assert Request().settled(plain) == Request("joint", n_classes="auto", annotators=False)
    crowd = Pairs([0, 1], [1, 2], [True, False], annotator=["a", "b"])
    assert Request().settled(crowd).annotators
    assert not Request(annotators=False).settled(crowd).annotators
    alone = Pairs([0, 1], [1, 2], [True, False], annotator=["a", "a"])
    assert not Request(annotators=True).settled(alone).annotators
    named = plain.with_labels({0: "x", 1: "y", 2: "z"})
    assert Request().settled(named).n_classes == 3
    with pytest.raises(ValueError, match="no column says who"):
        Request(annotators=True).settled(plain)
    with pytest.raises(ValueError, match="name 3 classes, but 2 were"):
        Request(n_classes=2).settled(named)
    assert Request(n_classes=(2, 3, 4)).settled(named).n_classes == (3, 4)
    with pytest.raises(ValueError, match="name 3 classes, but at most 2"):
        Request(n_classes=(2,)).settled(named)
    assert Request().settled(plain.with_labels({0: "x"})).n_classes == "auto"


@pytest.mark.parametrize("asked", [{"n_classes": 3}, {"n_classes": 2, "noise_model": "free"}])
@pytest.mark.parametrize("method", ["weighted", "correction"])
def test_point_wise_methods_refuse_what_they_cannot(method: str, asked: dict[str, Any]) -> None:
    with pytest.raises(NotIdentifiable):
        pair_classifier(Request(method, **asked))


@pytest.mark.parametrize("annotators", [True, False])
def test_people_are_a_part_of_the_model_where_they_are_asked_for(annotators: bool) -> None:
    request = Request("joint", "logistic", n_classes=2, annotators=annotators)
    parts = pair_classifier(request).get_params()["answer_model"]
    assert ("people" in parts) == annotators
    assert {"clarity", "similarity", "pair error"} <= set(parts)
