"""The report of a fit: what was learnt, how good it is, whether it may be trusted, and on what.

The answer comes first. Everything is read off a `FitResult`; nothing is computed here but words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

from noisypairs.app.fit.result import DataSummary, FitResult, ModelSummary
from noisypairs.app.model_card import column_rows
from noisypairs.app.report import classes, evidence, suspects
from noisypairs.app.report import parts as answer_parts
from noisypairs.app.report.page import Block, Page, bullets, callout, numbers, paragraph, table
from noisypairs.app.report.thumbnails import Thumbnails
from noisypairs.assess.words import between, confidence, count, listed, percent, share

GENERATOR = "noisypairs fit"
#: Flip rates below this are shown with what they cannot show.
NEAR_ZERO = 0.02


@dataclass(frozen=True)
class Part:
    """A section of the report: its heading, its blocks (none: it is left out), its small print."""

    heading: str
    blocks: Callable[[FitResult], Sequence[Block]]
    note: Callable[[FitResult], str | None] = lambda _: None
    folded: bool = True


def fit_report(
    result: FitResult,
    thumbnails: Thumbnails | None = None,
    of_classes: Thumbnails | None = None,
) -> str:
    """Return the whole page of a fit, ready to be written to one HTML file.

    ``thumbnails`` are pictures of the items of suspect answers, ``of_classes`` those of items
    that show classes.
    """
    page = Page(f"What the answers say about {result.data.title}", answer(result), GENERATOR)
    kind = result.verdict.kind
    page.open_with(callout(result.verdict.reason, kind), numbers(_key_numbers(result)))
    for part in parts(thumbnails, of_classes):
        if blocks := part.blocks(result):
            page.section(part.heading, *blocks, note=part.note(result), folded=part.folded)
    return page.html()


def parts(
    thumbnails: Thumbnails | None = None, of_classes: Thumbnails | None = None
) -> tuple[Part, ...]:
    """Return the sections in their order; another one is another line here."""
    return (
        Part("The classes", lambda found: classes.classes(found, of_classes), folded=False),
        Part("The data", lambda found: _data(found.data), lambda found: _reading(found.data)),
        Part("How wrong the answers are", lambda found: _noise(found.model), folded=False),
        Part("How people answer", answer_parts.parts),
        Part("How good the model is", lambda found: evidence.accuracy(found.model)),
        Part("Do its probabilities hold?", lambda found: evidence.calibration(found.evidence)),
        Part("Who answered", lambda found: suspects.annotators(found.evidence.annotators)),
        Part("Answers to look at again", lambda found: _suspects(found, thumbnails)),
        Part("How to read this", _how_to_read, _small_print),
    )


def _suspects(result: FitResult, thumbnails: Thumbnails | None) -> list[Block]:
    found = result.evidence
    return suspects.suspects(
        found.suspects, found.n_suspects, result.data.n_pairs, thumbnails, found.n_hard
    )


def answer(result: FitResult) -> str:
    """Return what a reader in a hurry needs: what was learnt, and how good it is."""
    found = result.model
    learnt = (
        f"From {count(result.data.n_pairs, 'answer')} to “are these two the same class?” a rule "
        f"was learnt that sorts items into {count(len(found.classes), 'class', 'classes')}."
    )
    if found.accuracy is None:
        return f"{learnt} How many new items it gets right cannot be estimated from these answers."
    return (
        f"{learnt} It puts an estimated {percent(found.accuracy.estimate)} of new items in the "
        f"right class ({confidence(found.accuracy)}); calling every item by the largest class "
        f"would get {percent(found.majority_share)}."
    )


def _key_numbers(result: FitResult) -> list[tuple[str, str, str]]:
    data, accuracy, noise = result.data, result.model.accuracy, result.model.noise
    tiles = []
    if accuracy is not None:
        right = "of new items right (estimated)"
        tiles.append((percent(accuracy.estimate), right, confidence(accuracy)))
    for rate, what in (
        (noise.similar_flip, "of the same pairs called different"),
        (noise.dissimilar_flip, "of the different pairs called same"),
    ):
        sure = between(rate) if noise.has_interval else "no interval"
        tiles.append((percent(rate.estimate), what, sure))
    per_item = f"{2 * data.n_pairs / max(data.n_items, 1):.1f} per item"
    tiles.append((f"{data.n_pairs:,}", f"answers about {count(data.n_items, 'item')}", per_item))
    return tiles


def _data(data: DataSummary) -> list[Block]:
    audit, triangles = data.audit, data.audit.triangles
    broken = triangles.broken_share
    rows = [
        ("items", f"{data.n_items:,}", f"{audit.isolated_items:,} of them never compared"),
        ("answers", f"{data.n_pairs:,}", _same_share(data.audit.same_share)),
        ("items of known class", f"{data.n_labels:,}", ""),
        ("annotators", f"{data.n_annotators:,}", "" if data.n_annotators else "not recorded"),
        ("pairs asked more than once", f"{audit.repeated_pairs:,}", ""),
        ("pairs answered both ways", f"{audit.contradictions:,}", "evidence of wrong answers"),
        ("items compared with themselves", f"{audit.self_pairs:,}", "they carry no information"),
        (
            "contradictory triangles (same, same, different)",
            "none closed" if broken is None else percent(broken, 1),
            "" if broken is None else f"of {'about ' * triangles.sampled}{triangles.closed:,}",
        ),
        ("separate groups of compared items", f"{audit.components:,}", "1 is best"),
    ]
    if audit.copies or audit.copies_removed:
        remark = f"{audit.copies_removed:,} left out, {audit.copies:,} kept"
        rows.insert(6, ("copied answers", f"{audit.copies + audit.copies_removed:,}", remark))
    if data.n_groups is not None:
        rows.insert(1, ("groups of items", f"{data.n_groups:,}", "folds keep a group together"))
    blocks: list[Block] = [table(("what", "number", "remark"), rows, numeric=[1])]
    if data.notes:
        blocks += [paragraph("On reading the files:"), bullets(data.notes)]
    if data.features:
        cells = column_rows(map(astuple, data.features))
        caption = f"Columns of the items; they became {count(data.n_features, 'number')} per item."
        blocks.append(table(("column", "read as", "what is done with it"), cells, caption))
    return blocks


def _same_share(share_of_same: float | None) -> str:
    return "" if share_of_same is None else f"{percent(share_of_same)} of them “same”"


def _reading(data: DataSummary) -> str:
    files = listed(f"{name} ({role})" for role, name in data.sources.items())
    columns = [f"{role}: {name}" for role, name in data.columns.items() if name is not None]
    words = [f"“{word}” is {meaning}" for word, meaning in data.answers.items()]
    return " ".join(
        f"{start} {'; '.join(parts)}."
        for start, parts in (("Files:", [files]), ("Columns:", columns), ("Answers:", words))
        if parts
    )


def _noise(found: ModelSummary) -> list[Block]:
    noise = found.noise
    shown = share if noise.has_interval else lambda rate: percent(rate.estimate)
    rates = (
        f"Of pairs of the same class, {shown(noise.similar_flip)} are called different; of pairs "
        f"of different classes, {shown(noise.dissimilar_flip)} are called same."
    )
    worth = 1.0 - noise.similar_flip.estimate - noise.dissimilar_flip.estimate
    meaning = (
        f"That leaves {percent(worth)} of the signal of perfect answers: as a rule of thumb, "
        f"{1.0 / worth**2:.0f} of these say as much as one perfect answer."
        if worth > 0.05
        else "Such answers carry almost no information about the classes."
    )
    how = paragraph(
        f"Kind of noise assumed: {noise.family}. The rates were learnt from the answers."
    )
    return [paragraph(f"{rates} {meaning}"), *_doubts(found), classes.confusion(found), how]


def _doubts(found: ModelSummary) -> list[Block]:
    """Say what the rates may hide: answers that are not independent, and lies about items."""
    noise, doubts = found.noise, list[Block]()
    if noise.repeat_correlation:
        text = (
            "Answers to the same pair agree more than this noise allows (correlation "
            f"{noise.repeat_correlation:.2f}): some were copied, or some pairs mislead everybody. "
            "The rates are probably too small; their intervals allow for it."
        )
        doubts.append(callout(text, "caution"))
    if max(noise.similar_flip.estimate, noise.dissimilar_flip.estimate) < NEAR_ZERO:
        text = (
            "Rates near zero mean that the answers hardly contradict each other, not that they are "
            "right: if every answer about an item follows the same wrong idea of it, no method can "
            "see that from answers alone, and the intervals do not cover it. A few items of known "
            "class would show it."
        )
        doubts.append(callout(text))
    return doubts


def _how_to_read(_: FitResult) -> list[Block]:
    return [
        bullets(
            [
                "No true class was used to learn or to judge, except for the items of known class "
                "if there are any. Accuracies are therefore estimates.",
                "“At N% confidence” means: of a hundred such intervals, about N hold the truth.",
                "“Held out” means: predicted by a model that was learnt without this item.",
                "An answer “predicted” rightly agrees with what was said, not with the truth: "
                "where people err, no model can predict every answer.",
                "A suspect answer is one that the model thinks wrong. Look at it again before "
                "changing it.",
            ]
        )
    ]


def _small_print(result: FitResult) -> str:
    run, found = result.run, result.model
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    sums = "; ".join(f"{role} {digest}" for role, digest in result.data.checksums.items())
    return (
        f"{found.method_title} with {found.estimator_title}, seed {run.seed}, "
        f"{run.seconds:.0f} s, {run.date}. Versions: {versions}. SHA-256: {sums}."
    )
