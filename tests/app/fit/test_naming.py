"""Kinds of a model file get names from a table."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from noisypairs import JointPairClassifier
from noisypairs.app import model_file
from noisypairs.app.files import BadFile
from noisypairs.app.fit.naming import name_file, read_names
from noisypairs.app.model_archive import FACTS, BadModelFile
from noisypairs.app.model_card import card
from noisypairs.datasets import simulated_crowd
from noisypairs.errors import collected_warnings
from tests.app.report.report_problems import fit_result


def names(folder: Path, text: str) -> Path:
    path = folder / "names.csv"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def crowd() -> Any:
    return simulated_crowd(90, 3, 6, 8, similar_flip=0.1, dissimilar_flip=0.1, random_state=0)


@pytest.fixture(scope="module")
def kinds(crowd: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    parts = {"annotators": False, "clarity": False, "similarity": False}
    model = JointPairClassifier(LogisticRegression(), n_kinds=3, random_state=0, **parts)
    with collected_warnings():
        model.fit(crowd.data, crowd.pairs)
    sizes = np.bincount(model.item_kinds_.argmax(axis=1), minlength=3)
    found = [
        {"number": k, "name": None, "share": float(model.kind_shares_[k]), "n_items": int(n)}
        for k, n in enumerate(sizes)
    ]
    path = tmp_path_factory.mktemp("kinds") / "m.skops"
    facts = fit_result().facts | {"kinds": found, "versions": {}}
    return model_file.save(path, Pipeline([("classifier", model)]), facts)


def test_named_kinds_are_classes_in_model_and_facts(
    kinds: Path, crowd: Any, tmp_path: Path
) -> None:
    table = names(tmp_path, "Kind,Class\n0,oak\nkind 2, oak \n1,ash\n")
    pipeline, said, notes = name_file(kinds, table)
    assert notes == []
    before = model_file.load(kinds).pipeline.predict_proba(crowd.data)
    assert pipeline.classes_.tolist() == ["ash", "oak"]
    np.testing.assert_allclose(pipeline.predict_proba(crowd.data)[:, 0], before[:, 1])
    assert [one["name"] for one in said["kinds"]] == ["oak", "ash", "oak"]
    shares = [one["share"] for one in said["kinds"]]
    assert said["classes"][1]["share"] == pytest.approx(shares[0] + shares[2])
    assert sum(one["n_items"] for one in said["classes"]) == 90
    assert said["names_known"]
    assert said["majority_share"] == pytest.approx(max(shares[1], shares[0] + shares[2]))
    again = model_file.save(tmp_path / "named.skops", pipeline, said)
    assert "| 2 | oak |" in card(model_file.inspect(again))
    renamed = name_file(again, names(tmp_path, "kind,class\n0,fir\n1,ash\n2,oak\n"))
    assert renamed.pipeline.classes_.tolist() == ["ash", "fir", "oak"]
    assert renamed.facts["accuracy_how"].count("accuracy of the kinds") == 1


def test_kinds_without_a_name_are_said_and_stay_classes(kinds: Path, tmp_path: Path) -> None:
    pipeline, said, notes = name_file(kinds, names(tmp_path, "kind,class\n1,ash\n2,\n"))
    assert notes == ["no name for kind 0, 2: classes of their own"]
    assert pipeline.classes_.tolist() == ["ash", "kind 0", "kind 2"]
    assert not said["names_known"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("knid,class\n0,oak\n", "names.csv has no column 'kind': did you mean 'knid'?"),
        ("kind,clas\n0,oak\n", "no column 'class': did you mean 'clas'?"),
        ("kind,class\n0,oak\n7,ash\n", "line 3: there is no kind '7': the kinds of this model are"),
        ("kind,class\n-1,oak\n", "there is no kind '-1'"),
        ("kind,class\nfirst,oak\n", "there is no kind 'first'"),
        ("kind,class\n0,oak\n0,ash\n", "line 3: kind 0 is 'ash' here and 'oak' above"),
        ("kind,class\n0,\n", "names no kind: give one row for each of the 3 kinds"),
    ],
)
def test_bad_names_say_the_place_and_what_to_do(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile, match=said.replace("?", r"\?")):
        read_names(names(tmp_path, text), 3)


def test_one_name_for_all_kinds_is_refused(kinds: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="all kinds have the name 'oak'"):
        name_file(kinds, names(tmp_path, "kind,class\n0,oak\n1,oak\n2,oak\n"))


def test_an_edited_card_is_not_sealed_again(kinds: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.skops"
    with zipfile.ZipFile(kinds) as old, zipfile.ZipFile(edited, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == FACTS:
                data = json.dumps(json.loads(data) | {"majority_share": 0.1}).encode()
            new.writestr(name, data)
    with collected_warnings(), pytest.raises(BadModelFile, match="edited after the model"):
        name_file(edited, names(tmp_path, "kind,class\n0,oak\n"))
