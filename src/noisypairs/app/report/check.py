"""The page of ``noisypairs check``: what is wrong, what can work, and what the files hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Literal

from noisypairs.app.check import DataCheck, NoiseFound
from noisypairs.app.model_card import column_rows
from noisypairs.app.report.page import (
    Block,
    Page,
    bullets,
    callout,
    numbers,
    paragraph,
    table,
)
from noisypairs.assess.verdict import Kind
from noisypairs.assess.words import between, count, percent, sentence, share

GENERATOR = "noisypairs check"
#: Outlook of the joint learner -> tone of the callout, and its words.
_OUTLOOKS: dict[str, tuple[Kind | Literal["note"], str]] = {
    "works": ("good", "can work"),
    "doubtful": ("caution", "is doubtful"),
    "fails": ("problem", "cannot work"),
    "not tried": ("note", "was not tried"),
}


def check_report(found: DataCheck) -> str:
    """Return the whole page as HTML: what is wrong first, then what it was found in."""
    names = [Path(source["path"]).name for source in found.dataset.sources]
    page = Page(f"Check of {' and '.join(names)}", _answer(found), GENERATOR)
    page.open_with(_verdict(found), numbers(_key_numbers(found)))
    page.section("What is wrong", _problems(found))
    page.section("Which methods can work", _methods(found))
    page.section("How wrong the answers are", *_noise(found))
    page.section("The answers", _answers(found), note=_reading(found))
    page.section("The items", *_items(found))
    page.section("The files", *_files(found))
    return page.html()


def _answer(found: DataCheck) -> str:
    audit, data = found.audit, found.dataset
    said = f"{count(audit.n_pairs, 'answer')} about {count(audit.n_items, 'item')}"
    by = "" if not data.annotator_names else f" by {count(len(data.annotator_names), 'annotator')}"
    wrong = count(len(found.problems), "thing") if found.problems else "nothing"
    return f"{said}{by}. {wrong.capitalize()} to look at was found by counting."


def _verdict(found: DataCheck) -> Block:
    joint = found.methods[0]
    kind, words = _OUTLOOKS[joint.outlook]
    return callout(f"The joint learner {words}: {sentence(joint.reason)}", kind)


def _key_numbers(found: DataCheck) -> list[tuple[str, str, str]]:
    audit, noise = found.audit, found.noise
    tiles = []
    if noise is not None:
        for rate, what in (
            (noise.similar_flip, "of the same pairs called different"),
            (noise.dissimilar_flip, "of the different pairs called same"),
        ):
            tiles.append((percent(rate.estimate), what, between(rate)))
    if audit.same_share is not None:
        tiles.append((percent(audit.same_share), "of the answers are “same”", ""))
    per_item = f"{2 * audit.n_pairs / max(audit.n_items, 1):.1f} per item"
    tiles.append((f"{audit.n_pairs:,}", f"answers about {count(audit.n_items, 'item')}", per_item))
    return tiles


def _problems(found: DataCheck) -> Block:
    if not found.problems:
        return paragraph("Nothing was found by counting.")
    return bullets([sentence(text) for text in found.problems])


def _methods(found: DataCheck) -> Block:
    rows = [(one.method, one.outlook, sentence(one.reason)) for one in found.methods]
    return table(("method", "outlook", "why"), rows)


def _noise(found: DataCheck) -> list[Block]:
    noise = found.noise
    if noise is None:
        text = f"It cannot be identified from these pairs: {sentence(found.no_noise or '')}"
        return [callout(text, "caution")]
    rows = [
        ("same pairs called different", share(noise.similar_flip)),
        ("different pairs called same", share(noise.dissimilar_flip)),
        *_more_noise(noise),
    ]
    if (seen := found.triangles) is not None:
        expected = f"expected {percent(seen.expected, 1)} ± {percent(seen.spread, 1)}"
        of_all = f"{percent(seen.seen, 1)} of {seen.closed:,}, {expected}"
        rows.append(("contradictory triangles (same, same, different)", of_all))
    level = percent(noise.similar_flip.level)
    how = f"Found by {noise.how}. In brackets: {level} intervals."
    return [table(("what", "estimate"), rows, numeric=()), paragraph(how)]


def _more_noise(noise: NoiseFound) -> list[tuple[str, str]]:
    rows = []
    if noise.prior is not None:
        rows.append(("share of class 1 (prior)", share(noise.prior)))
    elif noise.no_prior is not None:
        rows.append(("share of class 1 (prior)", f"unknown: {noise.no_prior}"))
    if noise.signal is not None:
        worth = "nothing" if noise.inflation is None else f"1/{noise.inflation:,.0f}"
        text = f"{noise.signal:.3f}: to a point-wise method an answer is worth {worth} of a label"
        rows.append(("signal |a − b|", text))
    return rows


def _answers(found: DataCheck) -> Block:
    rows = [
        tuple(part.strip() for part in line.split("  ", 1))
        for line in str(found.audit).splitlines()
    ]
    return table(("what", "number"), [row for row in rows if len(row) == 2], numeric=())


def _reading(found: DataCheck) -> str:
    data = found.dataset
    columns = [f"{role}: {name}" for role, name in asdict(data.columns).items() if name]
    words = [f"“{word}” is {meaning}" for word, meaning in data.mapping.items()]
    return f"Columns: {'; '.join(columns)}. Answers: {'; '.join(words)}."


def _items(found: DataCheck) -> Sequence[Block]:
    if not found.features:
        return [paragraph("No file holds them: they are known by their ids alone.")]
    rows = column_rows(map(astuple, found.features))
    blocks: list[Block] = [table(("column", "read as", "what is done with it"), rows)]
    n_items, pairs = count(found.audit.n_items, "item"), found.dataset.pairs
    if pairs.groups is not None:
        blocks.append(paragraph(f"{n_items} in {count(pairs.n_groups, 'group')}."))
    if found.repeated is not None and found.repeated.n_identical:
        same = f"{found.repeated.n_identical:,} of {n_items} have the same features as another."
        blocks.append(paragraph(same))
    return blocks


def _files(found: DataCheck) -> Sequence[Block]:
    rows = [
        (Path(one["path"]).name, f"{one['rows']:,}", f"{one['bytes']:,}", f"{one['sha256'][:16]}…")
        for one in found.dataset.sources
    ]
    files = table(("file", "rows", "bytes", "SHA-256"), rows, numeric=(1, 2))
    return [files, bullets(found.dataset.notes)] if found.dataset.notes else [files]
