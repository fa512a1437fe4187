"""Groups of a model file get names from a table."""

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
def groups(crowd: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = JointPairClassifier(
        LogisticRegression(), n_classes=3, random_state=0, answer_model=["pair error"]
    )
    with collected_warnings():
        model.fit(crowd.data, crowd.pairs)
    sizes = np.bincount(model.item_proba_.argmax(axis=1), minlength=3)
    found = [
        {"name": f"group {k + 1}", "share": float(model.prior_[k]), "n_items": int(n)}
        for k, n in enumerate(sizes)
    ]
    path = tmp_path_factory.mktemp("groups") / "m.skops"
    facts = fit_result().facts | {"classes": found, "versions": {}}
    return model_file.save(path, Pipeline([("classifier", model)]), facts)


def test_named_groups_are_classes_in_model_and_facts(
    groups: Path, crowd: Any, tmp_path: Path
) -> None:
    table = names(tmp_path, "Group,Class\n1,oak\ngroup 3, oak \n2,ash\n")
    pipeline, said, notes = name_file(groups, table)
    assert notes == []
    before = model_file.load(groups).pipeline.predict_proba(crowd.data)
    assert pipeline.classes_.tolist() == ["ash", "oak"]
    np.testing.assert_allclose(pipeline.predict_proba(crowd.data)[:, 0], before[:, 1])
    assert [one["name"] for one in said["groups"]] == ["oak", "ash", "oak"]
    shares = [one["share"] for one in said["groups"]]
    assert said["classes"][1]["share"] == pytest.approx(shares[0] + shares[2])
    assert sum(one["n_items"] for one in said["classes"]) == 90
    assert said["names_known"]
    assert said["majority_share"] == pytest.approx(max(shares[1], shares[0] + shares[2]))
    again = model_file.save(tmp_path / "named.skops", pipeline, said)
    assert "| 3 | oak |" in card(model_file.inspect(again))
    renamed = name_file(again, names(tmp_path, "kind,class\n0,fir\n1,ash\n2,oak\n"))
    assert renamed.pipeline.classes_.tolist() == ["ash", "fir", "oak"]
    assert renamed.facts["accuracy_how"].count("accuracy of the groups") == 1


def test_groups_without_a_name_are_said_and_stay_classes(groups: Path, tmp_path: Path) -> None:
    pipeline, said, notes = name_file(groups, names(tmp_path, "group,class\n2,ash\n3,\n"))
    assert notes == ["no name for group 1, 3: classes of their own"]
    assert pipeline.classes_.tolist() == ["ash", "group 1", "group 3"]
    assert not said["names_known"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gruop,class\n1,oak\n", "names.csv has no column 'group': did you mean 'gruop'?"),
        ("group,clas\n1,oak\n", "no column 'class': did you mean 'clas'?"),
        ("group,class\n1,oak\n7,ash\n", "line 3: there is no group '7': the groups of this"),
        ("group,class\n0,oak\n", "there is no group '0'"),
        ("group,class\nfirst,oak\n", "there is no group 'first'"),
        ("group,class\n1,oak\n1,ash\n", "line 3: group 1 is 'ash' here and 'oak' above"),
        ("group,class\n1,\n", "names no group: give one row for each of the 3 groups"),
    ],
)
def test_bad_names_say_the_place_and_what_to_do(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile, match=said.replace("?", r"\?")):
        read_names(names(tmp_path, text), 3)


def test_one_name_for_all_groups_is_refused(groups: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="all kinds have the name 'oak'"):
        name_file(groups, names(tmp_path, "kind,class\n0,oak\n1,oak\n2,oak\n"))


def test_an_edited_card_is_not_sealed_again(groups: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.skops"
    with zipfile.ZipFile(groups) as old, zipfile.ZipFile(edited, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == FACTS:
                data = json.dumps(json.loads(data) | {"majority_share": 0.1}).encode()
            new.writestr(name, data)
    with collected_warnings(), pytest.raises(BadModelFile, match="edited after the model"):
        name_file(edited, names(tmp_path, "kind,class\n0,oak\n"))
