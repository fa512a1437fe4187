"""Model files that were damaged or edited: one line says so, in `inspect`, `load` and `predict`."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from noisypairs.app import model_archive, model_file
from noisypairs.app.model_archive import CARD, DIGESTS, FACTS, BadModelFile
from noisypairs.app.model_file import EditedCardWarning
from noisypairs.app.prediction import predict_file
from tests.app.fit.fit_problems import small_model
from tests.cli.commands import fails, run

SCHEMA = "schema.json"  # where skops names the types
#: Mutated files, those of which one part was mutated, and the seed of the mutations.
N_MUTATED, N_MUTATED_PARTS, SEED = 150, 40, 12


@pytest.fixture(scope="module")
def good() -> Path:
    return small_model().model


def new_items() -> Path:
    return small_model().items


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path: Path, parts: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def edited_facts(path: Path, edit: Callable[[dict[str, Any]], object]) -> bytes:
    facts = json.loads(parts_of(path)[FACTS])
    edit(facts)
    return json.dumps(facts).encode()


def refused(path: Path, said: str) -> None:
    """Every way to look at the file says the same in one line."""
    out = path.parent / "out.csv"
    fails(1, said, path.parent, "inspect", path)
    fails(1, said, path.parent, "inspect", path, "--json")
    fails(1, said, path.parent, "predict", path, new_items(), "-o", out)
    with pytest.raises(BadModelFile, match=said):
        model_file.load(path)


# --------------------------------------------------------------------------- damage, by its name


@pytest.mark.parametrize("part", [FACTS, SCHEMA])
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_compressed_bytes(good: Path, tmp_path: Path, part: str, method: int) -> None:
    path = written(tmp_path / "m.skops", parts_of(good), method)
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo(part)
    content = bytearray(path.read_bytes())
    start = place.header_offset + 30 + len(part)
    content[start + 9 : start + place.compress_size] = b"\xff" * (place.compress_size - 9)
    path.write_bytes(content)
    refused(path, "m.skops is damaged")


def test_an_unknown_zip_version(good: Path, tmp_path: Path) -> None:
    content = bytearray(good.read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 180  # the version needed to extract, times ten
    path = tmp_path / "m.skops"
    path.write_bytes(content)
    refused(path, "m.skops is damaged")


def test_an_encrypted_part(good: Path, tmp_path: Path) -> None:
    content = bytearray(good.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag of encryption
    content[content.index(b"PK\x03\x04") + 6] |= 1
    path = tmp_path / "m.skops"
    path.write_bytes(content)
    refused(path, "m.skops is damaged")


def test_a_part_without_a_name(good: Path, tmp_path: Path) -> None:
    content = written(tmp_path / "m.skops", parts_of(good) | {"unnamed": b""}).read_bytes()
    (tmp_path / "m.skops").write_bytes(content.replace(b"unnamed", bytes(7)))
    refused(tmp_path / "m.skops", "a part has no name")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.skops"
    path.write_bytes(good.read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(FACTS, "{}")
    refused(path, "two parts are called 'noisypairs.json'")


@pytest.mark.parametrize(
    "edit",
    [
        lambda facts: facts.pop("columns"),
        lambda facts: facts.update(columns=["id"]),
        lambda facts: facts.update(columns={"id": ["id"]}),
        lambda facts: facts.update(majority_share=float("nan")),
        lambda facts: facts.update(n_items=10**400, majority_share=10**400),
        lambda facts: facts.update(title="half a character: \ud83d"),
        lambda facts: facts["features"][0].update(name=["x1"]),
    ],
    ids=["no columns", "list", "id no text", "NaN", "too large", "surrogate", "name no text"],
)
def test_facts_that_no_command_could_use(
    good: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], object]
) -> None:
    parts = parts_of(good) | {FACTS: edited_facts(good, edit)}
    del parts[DIGESTS]
    refused(written(tmp_path / "m.skops", parts), "damaged")


def test_facts_nested_too_deep(good: Path, tmp_path: Path) -> None:
    parts = parts_of(good) | {FACTS: b"[" * 100_000 + b"]" * 100_000}
    refused(written(tmp_path / "m.skops", parts), "damaged")


def schema_without(good: Path, attribute: str) -> dict[str, bytes]:
    """Return the parts, without digests, of a file in which no object has this attribute."""
    parts = parts_of(good)
    del parts[DIGESTS]

    def lacking(node: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in node.items() if name != attribute}

    schema = json.loads(parts[SCHEMA], object_hook=lacking)
    return parts | {SCHEMA: json.dumps(schema).encode()}


def test_a_pipeline_without_steps(good: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "m.skops", schema_without(good, "steps"))
    fails(
        1, "m.skops is damaged", tmp_path, "predict", path, new_items(), "-o", tmp_path / "out.csv"
    )
    with pytest.raises(BadModelFile, match=r"m\.skops is damaged"):
        model_file.load(path)
    assert run("inspect", path).exit_code == 0  # the facts are whole, and nothing says otherwise


def test_a_model_that_cannot_predict(good: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "m.skops", schema_without(good, "estimator_"))
    fails(
        1, "m.skops is damaged", tmp_path, "predict", path, new_items(), "-o", tmp_path / "out.csv"
    )


# --------------------------------------------------------------------------- damage, at random


def mutated(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 3, 10))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def test_any_mutated_bytes_are_refused_or_harmless(good: Path, tmp_path: Path) -> None:
    draw, content, whole = random.Random(SEED), good.read_bytes(), model_file.inspect(good)
    path, said = tmp_path / "m.skops", []
    for _ in range(N_MUTATED):
        path.write_bytes(mutated(content, draw))
        try:
            found = model_file.inspect(path)
        except BadModelFile as error:
            said.append(str(error))
            with pytest.raises(BadModelFile, match="damaged"):
                model_file.load(path)
        else:  # dates and rights of the parts, which nobody reads
            assert found == whole
            assert model_file.load(path).facts == whole
    assert len(said) > 0.9 * N_MUTATED
    assert all("damaged" in message for message in said)


def test_any_mutated_part_of_a_file_without_digests_is_refused_or_used(
    good: Path, tmp_path: Path
) -> None:
    draw, parts = random.Random(SEED), parts_of(good)
    del parts[DIGESTS]
    path, n_refused = tmp_path / "m.skops", 0
    for _ in range(N_MUTATED_PARTS):
        name = draw.choice([FACTS, SCHEMA, *(one for one in parts if one.endswith(".npy"))])
        written(path, parts | {name: mutated(parts[name], draw)})
        for look in (
            model_file.inspect,
            model_file.load,
            lambda one: predict_file(one, new_items()),
        ):
            try:
                look(path)
            except ValueError as error:  # one line in every command
                n_refused += isinstance(error, BadModelFile)
    assert n_refused > N_MUTATED_PARTS / 2


# ------------------------------------------------------------------------------- an edited card


def raise_accuracy(facts: dict[str, Any]) -> None:
    facts["accuracy"] = {"estimate": 0.99, "low": 0.98, "high": 1.0, "level": 0.9}


@pytest.mark.parametrize("name", [FACTS, CARD])
def test_an_edited_card_is_said_to_be_edited(good: Path, tmp_path: Path, name: str) -> None:
    new = {FACTS: edited_facts(good, raise_accuracy), CARD: b"# The best model\n"}[name]
    path = written(tmp_path / "m.skops", parts_of(good) | {name: new})
    for look in (model_file.inspect, model_file.load):
        with pytest.warns(EditedCardWarning, match="its card was edited after the model was"):
            look(path)
    shown = run("inspect", path)
    assert shown.exit_code == 0
    assert "its card was edited" in shown.stderr
    assert json.loads(run("inspect", path, "--json").stdout)["edited"] is True
    assert (
        "its card was edited"
        in run("predict", path, new_items(), "-o", tmp_path / "out.csv").stderr
    )


def test_the_facts_of_another_model_are_noticed(good: Path, tmp_path: Path) -> None:
    model = model_file.load(good)
    facts = {**model.facts, "title": "other.csv"}
    other = parts_of(model_file.save(tmp_path / "other.skops", model.pipeline, facts))
    taken = {name: other[name] for name in (FACTS, CARD)}
    path = written(tmp_path / "m.skops", parts_of(good) | taken)
    with pytest.warns(EditedCardWarning):
        model_file.inspect(path)
    # With the digests of the other file it is the model that does not belong.
    refused(written(path, parts_of(good) | taken | {DIGESTS: other[DIGESTS]}), "damaged")


def test_a_model_that_was_changed_is_damaged(good: Path, tmp_path: Path) -> None:
    parts = parts_of(good)
    changed = parts[SCHEMA].replace(b"1", b"2", 1)
    refused(written(tmp_path / "m.skops", parts | {SCHEMA: changed}), "schema.json is not as it")
    refused(written(tmp_path / "m.skops", parts | {"extra.npy": b""}), "extra.npy is not as it")


def test_a_file_as_it_was_written_is_not_said_to_be_edited(good: Path) -> None:
    shown = run("inspect", good)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert json.loads(run("inspect", good, "--json").stdout)["edited"] is False
    assert model_file.load(good).edited is False


def test_a_file_without_digests_cannot_tell_and_is_used(good: Path, tmp_path: Path) -> None:
    parts = parts_of(good)
    del parts[DIGESTS]
    path = written(tmp_path / "m.skops", parts)
    shown = run("inspect", path)
    assert shown.exit_code == 0
    assert "whether its card was edited cannot be checked" in shown.stderr
    assert json.loads(run("inspect", path, "--json").stdout)["edited"] is None
    assert model_file.load(path).edited is None
    assert predict_file(path, new_items()).notes == []


def test_the_digests_are_those_that_sha256sum_checks(good: Path, tmp_path: Path) -> None:
    parts = parts_of(good)
    lines = [line.split("  ") for line in parts[DIGESTS].decode().splitlines()]
    assert sorted(name for _, name in lines) == sorted(set(parts) - {DIGESTS})
    assert all(len(digest) == 64 for digest, _ in lines)
    assert model_archive.read_archive(good).changed == frozenset()
