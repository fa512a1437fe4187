"""Model files: the round trip, what is refused, and that looking builds nothing."""

from __future__ import annotations

import io
import json
import os
import struct
import warnings
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io as skops
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from noisypairs import JointPairClassifier, PairingNoise, SearchOptions, sample_pairs
from noisypairs.app import model_archive, model_card, model_file
from noisypairs.app.encoding import item_encoder
from noisypairs.app.files import CannotWrite
from noisypairs.app.fit.request import Request, pair_classifier
from noisypairs.app.model_archive import FACTS, BadModelFile
from noisypairs.app.model_file import TRAINING_ONLY, ModelVersionWarning
from noisypairs.datasets import simulated_crowd
from noisypairs.errors import collected_warnings
from noisypairs.estimators.inner.classifiers import NETWORK_ITEMS, default_candidates

N = 80


class Foreign(BaseEstimator):
    """A class that no model of ours holds; building it would be noticed."""

    built = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).built = True
        super().__setstate__(state)


def facts() -> dict[str, Any]:
    half = {"estimate": 0.9, "low": 0.8, "high": 0.95, "level": 0.9}
    return {
        "title": "items.csv",
        "method_title": "Joint learner",
        "estimator_title": "linear",
        "n_pairs": 1200,
        "n_items": N,
        "date": "2024-01-01T00:00:00+00:00",
        "seed": 0,
        "accuracy": half,
        "accuracy_how": "by beliefs",
        "majority_share": 0.7,
        "verdict": {"title": "Consistent", "reason": "Every check passed."},
        "why": "It is best.",
        "classes": [{"name": "ash", "share": 0.7, "n_items": 56}],
        "names_known": True,
        "noise": {"similar_flip": half, "dissimilar_flip": {**half, "low": 0.9, "high": 0.9}},
        "sources": {"items": "items.csv"},
        "checksums": {"items": "abc123"},
        "features": [
            {"name": "width", "kind": "number", "note": "numbers"},
            {"name": "unit", "kind": "constant", "note": "left out"},
        ],
        "columns": {"id": "id"},
        "versions": {},
    }


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (np.arange(N) % 5 == 0).astype(int)
    words = np.array(["round", "soft", "hard", "old", "big"])
    return pd.DataFrame(
        {
            "width": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N) + 4 * y),
            "colour": rng.choice(["red", "blue"], N),
            "about": [" ".join(rng.choice(words, 4)) for _ in range(N)],
            "seen": pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d"),
        }
    ), y


def fitted(method: str = "joint", estimator: str = "logistic") -> tuple[Pipeline, pd.DataFrame]:
    frame, y = table()
    pairs = sample_pairs(y, 3000, PairingNoise(0.1, 0.1), random_state=0)
    encoder = item_encoder(frame)
    request = Request(method, estimator, n_classes=2, annotators=False)
    model = pair_classifier(request)
    if method != "joint":  # what is tested here is the file, not the choice of rates
        model.set_params(noise=PairingNoise(0.1, 0.1), prior=0.2)
    with collected_warnings():
        model.fit(encoder.fit_transform(frame), pairs)
    return Pipeline([("encoder", encoder), ("classifier", model)]), frame


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_file.save(tmp_path_factory.mktemp("model") / "m.skops", fitted()[0], facts())


def rewritten(path: Path, target: Path, **members: bytes) -> Path:
    """Copy an archive with some members replaced; ``noisypairs_json`` is `FACTS`.

    Without digests: what they notice is in test_model_archive.
    """
    changed = {name.replace("_json", ".json"): data for name, data in members.items()}
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in sorted({*old.namelist()} - {model_archive.DIGESTS}):
            new.writestr(name, changed.get(name, old.read(name)))
    return target


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        ("joint", "default"),
        ("joint", "forest"),
        ("weighted", "boosting"),
        ("weighted", "default"),
        ("correction", "mlp"),
        ("correction", "forest"),
        ("correction", "logistic"),
    ],
)
def test_what_is_loaded_predicts_what_was_saved(
    tmp_path: Path, method: str, estimator: str
) -> None:
    pipeline, frame = fitted(method, estimator)
    path = model_file.save(tmp_path / "m.skops", pipeline, facts())
    model = model_file.load(path)
    np.testing.assert_array_equal(
        model.pipeline.predict_proba(frame), pipeline.predict_proba(frame)
    )
    assert model.columns == ["width"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.skops"]


@pytest.fixture(scope="module")
def whole() -> tuple[Pipeline, Any]:
    """A model with kinds and every part of the answer model, and its crowd."""
    crowd = simulated_crowd(150, 3, 12, 10, similar_flip=0.1, dissimilar_flip=0.1, random_state=0)
    model = JointPairClassifier(
        LogisticRegression(), random_state=0, search=SearchOptions(n_kinds=3)
    )
    with collected_warnings():
        model.fit(crowd.data, crowd.pairs)
    return Pipeline([("classifier", model)]), crowd


def test_kinds_and_parts_are_saved_and_kinds_can_be_named_afterwards(
    tmp_path: Path, whole: tuple[Pipeline, Any]
) -> None:
    pipeline, crowd = whole
    path = model_file.save(tmp_path / "m.skops", pipeline, facts())
    loaded = model_file.load(path).pipeline
    last, before = loaded[-1], pipeline[-1]
    assert not any(getattr(last, name, None) is not None for name in TRAINING_ONLY)
    assert last.parts_ == before.parts_
    assert last.answer_model_.family == before.answer_model_.family
    np.testing.assert_array_equal(last.people_.bias, before.people_.bias)
    np.testing.assert_array_equal(  # everybody's ways and similarity are there
        last.answer_proba(crowd.data, crowd.pairs), before.answer_proba(crowd.data, crowd.pairs)
    )
    kinds = loaded.predict_proba(crowd.data)
    np.testing.assert_array_equal(kinds, pipeline.predict_proba(crowd.data))
    last.name_kinds({0: "cat", 1: "dog", 2: "cat"})
    assert last.classes_.tolist() == ["cat", "dog"]
    classes = loaded.predict_proba(crowd.data)
    np.testing.assert_allclose(classes[:, 0], kinds[:, 0] + kinds[:, 2])
    assert last.prior_ == pytest.approx(float(before.prior_[1]))
    again = model_file.load(model_file.save(tmp_path / "named.skops", loaded, facts())).pipeline
    np.testing.assert_array_equal(again.predict_proba(crowd.data), classes)
    assert again[-1].kind_names_ == {0: "cat", 1: "dog", 2: "cat"}
    with pytest.raises(ValueError, match="read from a file, which keeps nothing of its items"):
        again[-1].kinds()
    with pytest.raises(ValueError, match="all kinds have the name 'cat'"):
        again[-1].name_kinds(dict.fromkeys(range(3), "cat"))


MANY_ITEMS = np.zeros((NETWORK_ITEMS, 2))  # so that a network is among them


@pytest.mark.parametrize("candidate", list(default_candidates(MANY_ITEMS)))
def test_every_default_candidate_can_be_saved(tmp_path: Path, candidate: str) -> None:
    pipeline, frame = fitted("joint", "logistic")
    encoder, model = pipeline.named_steps.values()
    X = encoder.transform(frame)
    model.estimator_ = default_candidates(MANY_ITEMS, 0)[candidate].fit(X, model.predict(X))
    path = model_file.save(tmp_path / "m.skops", pipeline, facts())
    np.testing.assert_array_equal(
        model_file.load(path).pipeline.predict_proba(frame), pipeline.predict_proba(frame)
    )


def test_nothing_about_single_training_items_or_answers_is_in_the_file(good: Path) -> None:
    pipeline, _ = fitted()
    assert hasattr(pipeline[-1], "item_proba_")  # the one in memory keeps what it has
    loaded = model_file.load(good).pipeline[-1]
    assert not any(name in vars(loaded) for name in TRAINING_ONLY)
    with zipfile.ZipFile(good) as archive:
        arrays = [archive.read(name) for name in archive.namelist() if name.endswith(".npy")]
    shapes = [np.load(io.BytesIO(data), allow_pickle=False).shape for data in arrays]
    assert not any(N in shape or 3000 in shape for shape in shapes)


def test_inspect_reads_the_facts_and_builds_nothing(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("an object was built")

    for name in ("loads", "load", "get_untrusted_types"):
        monkeypatch.setattr(skops, name, never)
    assert model_file.inspect(good) == {"noisypairs_model": 2, **facts()}


def test_the_card_says_what_a_user_asks(good: Path) -> None:
    card = model_card.card(model_file.inspect(good))
    with zipfile.ZipFile(good) as archive:
        assert archive.read("README.md").decode() == card
    for words in (
        "90.0% (80.0% to 95.0%)",
        "different called same: 90.0%\n",
        "| ash | 70.0% | 56 |",
        "sha256 abc123",
        "| width | number | numbers |",
    ):
        assert words in card
    assert "\x1b" not in model_card.card({**facts(), "title": "\x1b[31mred"})


def test_plain_skops_loads_the_file_too(good: Path) -> None:
    trusted = skops.get_untrusted_types(file=good)
    assert set(trusted) <= model_file.trusted_types()
    assert isinstance(skops.load(good, trusted=trusted), Pipeline)


@pytest.mark.parametrize("place", ["alone", "inside"])
def test_a_foreign_type_is_refused_by_name_and_never_built(tmp_path: Path, place: str) -> None:
    thing: Any = Foreign()
    if place == "inside":
        thing = Pipeline([("encoder", FunctionTransformer()), ("classifier", Foreign())])
    content = io.BytesIO(skops.dumps(thing))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(FACTS, json.dumps({"noisypairs_model": 2, **facts()}))
    path = tmp_path / "m.skops"
    path.write_bytes(content.getvalue())
    Foreign.built = False
    with pytest.raises(BadModelFile, match=r"holds tests\.app\.test_model_file\.Foreign, which no"):
        model_file.load(path)
    assert not Foreign.built
    assert model_file.inspect(path)["title"] == "items.csv"  # looking is safe


def test_a_function_of_this_very_package_is_foreign_too(tmp_path: Path) -> None:
    content = io.BytesIO(skops.dumps(FunctionTransformer(model_file.save)))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(FACTS, json.dumps({"noisypairs_model": 2, **facts()}))
    (tmp_path / "m.skops").write_bytes(content.getvalue())
    with pytest.raises(BadModelFile, match=r"noisypairs\.app\.model_file\.save"):
        model_file.load(tmp_path / "m.skops")


def test_a_type_of_another_version_is_refused_with_what_to_do(good: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(good) as archive:
        schema = archive.read("schema.json").decode()
    changed = schema.replace('"noisypairs.app.encoding"', '"noisypairs.codec"').encode()
    path = rewritten(good, tmp_path / "m.skops", schema_json=changed)
    with pytest.raises(BadModelFile, match=r"holds noisypairs\.codec\..*fit the model again, or"):
        model_file.load(path)


def test_of_skrub_just_those_types_are_trusted_that_a_table_of_items_needs() -> None:
    frame, _ = table()
    frame["code"] = [f"k{row % 50}" for row in range(len(frame))]
    content = skops.dumps(item_encoder(frame).fit(frame))
    found = {name for name in skops.get_untrusted_types(data=content) if name.startswith("skrub")}
    assert found == model_file.SKRUB
    again = skops.loads(content, trusted=sorted(model_file.trusted_types()))
    np.testing.assert_array_equal(again.transform(frame), item_encoder(frame).fit_transform(frame))


def test_what_a_reader_would_refuse_is_not_written(tmp_path: Path) -> None:
    pipeline = Pipeline([("encoder", FunctionTransformer()), ("classifier", Foreign())])
    with pytest.raises(TypeError, match=r"cannot hold tests\.app\.test_model_file\.Foreign"):
        model_file.save(tmp_path / "m.skops", pipeline, facts())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(good: Path, tmp_path: Path, share: float) -> None:
    content = good.read_bytes()
    path = tmp_path / "cut.skops"
    path.write_bytes(content[: int(share * len(content))])
    for look in (model_file.inspect, model_file.load):
        with pytest.raises(BadModelFile, match="no model file, or was cut short"):
            look(path)


@pytest.mark.parametrize("start", range(0, 4000, 400))
def test_a_damaged_file_is_refused(good: Path, tmp_path: Path, start: int) -> None:
    content = bytearray(good.read_bytes())
    content[start : start + 40] = b"\xff" * 40
    path = tmp_path / "bad.skops"
    path.write_bytes(bytes(content))
    with pytest.raises(BadModelFile, match=r"bad\.skops"):
        model_file.load(path)


def test_other_archives_and_other_files_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(BadModelFile, match=r"an archive without noisypairs\.json"):
        model_file.inspect(tmp_path / "other.zip")
    with pytest.raises(BadModelFile, match=r"cannot read .*none\.skops: No such file"):
        model_file.load(tmp_path / "none.skops")
    os.mkfifo(tmp_path / "pipe.skops")  # reading it would wait for ever
    with pytest.raises(BadModelFile, match=r"cannot read .*pipe\.skops: it is no file"):
        model_file.inspect(tmp_path / "pipe.skops")
    with pytest.raises(BadModelFile, match="cannot read"):
        model_file.load(tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"{", "is damaged"),
        (b"[]", "does not know"),
        (b'{"noisypairs_model": 99}', "does not know: update noisypairs"),
        (b'{"noisypairs_model": 2}', "is incomplete"),
        (b'{"noisypairs_model": 2, "classes": 3, "accuracy": null}', "is incomplete"),
    ],
)
def test_facts_that_are_not_ours_are_refused(
    good: Path, tmp_path: Path, given: bytes, said: str
) -> None:
    path = rewritten(good, tmp_path / "m.skops", noisypairs_json=given)
    for look in (model_file.inspect, model_file.load):
        with pytest.raises(BadModelFile, match=said):
            look(path)


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_a_file_of_an_older_version_is_refused_in_one_sentence(
    good: Path, tmp_path: Path, version: str
) -> None:
    path = Path(__file__).parents[1] / "data" / "model-0.1.0.skops"
    if version != "0.1.0":
        old = {"noisypairs_model": 1, **facts(), "versions": {"noisypairs": version}}
        path = rewritten(good, tmp_path / "m.skops", noisypairs_json=json.dumps(old).encode())
    said = rf"written by noisypairs {version}, whose models this version cannot read: fit again"
    for look in (model_file.inspect, model_file.load):
        with pytest.raises(BadModelFile, match=said):
            look(path)


def test_a_schema_that_is_none_is_refused(good: Path, tmp_path: Path) -> None:
    for schema in (b"{}", b"[", b'{"__class__": "system", "__module__": "os"}'):
        path = rewritten(good, tmp_path / "m.skops", schema_json=schema)
        with pytest.raises(BadModelFile):
            model_file.load(path)


def test_a_file_that_would_unpack_to_far_too_much_is_refused(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = tmp_path / "bomb.skops"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, b" " * 2_000_000)
    monkeypatch.setattr(model_archive, "MOST_BYTES", 1_000_000)
    assert bomb.stat().st_size < 10_000
    with pytest.raises(BadModelFile, match="would unpack to 2,000,000 bytes"):
        model_file.inspect(bomb)
    monkeypatch.setattr(model_archive, "MOST_BYTES", 10_000_000)
    monkeypatch.setattr(model_archive, "MOST_FACTS", 1_000_000)
    with pytest.raises(BadModelFile, match="too large to be ours"):
        model_file.inspect(bomb)
    monkeypatch.setattr(model_archive, "MOST_MEMBERS", 3)
    with pytest.raises(BadModelFile, match="more than any model of ours"):
        model_file.load(good)


def test_another_version_gives_one_warning(good: Path, tmp_path: Path) -> None:
    old = {"noisypairs_model": 2, **facts(), "versions": {"scikit-learn": "0.1.2", "scipy": "0"}}
    path = rewritten(good, tmp_path / "old.skops", noisypairs_json=json.dumps(old).encode())
    with pytest.warns(ModelVersionWarning, match=r"scikit-learn 0\.1\.2 \(here") as seen:
        model_file.load(path)
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_file.load(good)


def test_an_existing_file_is_kept_unless_told(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.skops"
    path.write_text("precious")
    with pytest.raises(CannotWrite, match="--force"):
        model_file.save(path, model_file.load(good).pipeline, facts())
    assert path.read_text() == "precious"
    model_file.save(path, model_file.load(good).pipeline, facts(), force=True)
    assert model_file.inspect(path)["n_pairs"] == 1200


@pytest.mark.parametrize(("part", "warned"), [(1, True), (2, False)])
def test_the_minor_version_matters_and_the_patch_does_not(
    good: Path, tmp_path: Path, part: int, warned: bool
) -> None:
    numbers = version("scikit-learn").split(".")
    numbers[part] = "999"
    old = {"noisypairs_model": 2, **facts(), "versions": {"scikit-learn": ".".join(numbers)}}
    path = rewritten(good, tmp_path / "other.skops", noisypairs_json=json.dumps(old).encode())
    with collected_warnings() as seen:
        model_file.load(path)
    assert bool(seen) == warned


@pytest.mark.parametrize(("array", "shape"), [("statistics_", 0), ("classes_", 1)])
def test_a_model_whose_parts_do_not_fit_together_is_damaged(
    good: Path, tmp_path: Path, array: str, shape: int
) -> None:
    """The digests are right, as somebody recomputed them; only a prediction shows it."""
    with zipfile.ZipFile(good) as archive:
        schema = json.loads(archive.read("schema.json"))
    name = next(one[array]["file"] for one in _nodes(schema) if "file" in one.get(array, ()))
    short = io.BytesIO()
    np.save(short, np.zeros(shape))
    path = rewritten(good, tmp_path / "short.skops", **{name: short.getvalue()})
    with pytest.raises(BadModelFile, match=r"short\.skops is damaged"):
        model_file.load(path)


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    values = schema.values() if isinstance(schema, dict) else schema
    if isinstance(schema, dict):
        yield schema
    for one in values:
        if isinstance(one, dict | list):
            yield from _nodes(one)


def test_an_archive_that_would_unpack_to_more_than_a_model_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10))
    whole = bytearray(path.read_bytes())
    size = struct.pack("<I", 1_900_000_000)
    for place in (whole.index(b"PK\x03\x04") + 22, whole.index(b"PK\x01\x02") + 24):
        whole[place : place + 4] = size
    path.write_bytes(whole)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("was read"))
    with pytest.raises(BadModelFile, match="would unpack to 1,900,000,000 bytes"):
        model_file.load(path)


def test_a_model_that_could_not_be_loaded_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_archive, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="a model file holds at most"):
        model_file.save(tmp_path / "m.skops", fitted()[0], facts())
    assert list(tmp_path.iterdir()) == []
