"""The report of a fit: what was learnt, how good it is, whether it may be trusted, and on what.

The answer comes first. Everything is read off a `FitResult`; nothing is computed here but words.
"""

from __future__ import annotations

from typing import Literal

from noisypairs.app.fit.fitting import FitResult
from noisypairs.app.model_card import column_rows
from noisypairs.app.report import evidence, suspects
from noisypairs.app.report.page import Block, Page, bullets, callout, numbers, paragraph, table
from noisypairs.app.report.words import between, confidence, count, listed, percent, sentence, share

GENERATOR = "noisypairs fit"

Verdict = tuple[Literal["good", "caution", "bad"], str]


def fit_report(result: FitResult) -> str:
    """Return the whole page of a fit, ready to be written to one HTML file."""
    page = Page(f"What the answers say about {result.title}", answer(result), GENERATOR)
    kind, reason = trust(result)
    page.open_with(callout(reason, kind), numbers(_key_numbers(result)))
    page.section("The data", *_data(result), note=_reading(result))
    page.section("How wrong the answers are", *_noise(result))
    page.section("The classes", *_classes(result))
    page.section("How good the model is", *evidence.accuracy(result))
    page.section("Would more answers help?", *evidence.learning(result))
    page.section("Do its probabilities hold?", *evidence.calibration(result))
    page.section("Who answered", *suspects.annotators(result.annotators))
    page.section("Answers to look at again", *suspects.suspects(result))
    page.section("Methods compared", *evidence.methods(result))
    page.section("How to read this", *_how_to_read(result), note=_small_print(result))
    return page.html()


def answer(result: FitResult) -> str:
    """Return what a reader in a hurry needs: what was learnt, and how good it is."""
    learnt = (
        f"From {count(result.n_pairs, 'answer')} to “are these two the same class?” a rule was "
        f"learnt that sorts items into {count(len(result.classes), 'class', 'classes')}."
    )
    if result.accuracy is None:
        return f"{learnt} How many new items it gets right cannot be told from these answers."
    return (
        f"{learnt} It puts an estimated {percent(result.accuracy.estimate)} of new items in the "
        f"right class ({confidence(result.accuracy)}); calling every item by the largest class "
        f"would get {percent(result.majority_share)}."
    )


def trust(result: FitResult) -> Verdict:
    """Return whether the model may be trusted, with the reason; the gravest one decides."""
    level = [one for one in result.candidates if one.is_baseline and evidence.is_level(one)]
    if any(one.name == "majority" for one in level):
        return "bad", (
            "Do not rely on this model yet: answers about items that it had not seen are foretold "
            "no better than by always saying what is said most often."
        )
    if result.accuracy is None:
        return "caution", f"No accuracy could be estimated: {sentence(result.accuracy_how)}"
    if result.accuracy.low <= result.majority_share:
        return "caution", (
            "Use with care: the model may be no better than calling every item by the largest "
            f"class, which gets {percent(result.majority_share)}, for its own accuracy is only "
            f"known to be {between(result.accuracy)}. More answers would narrow that down."
        )
    if result.warnings:
        return "caution", f"Use with care. {' '.join(map(sentence, result.warnings))}"
    as_well = listed(f"“{one.title}”" for one in level) if level else ""
    also = f" Those answers are foretold as well by {as_well}." if level else ""
    return "good", (
        "The model may be trusted as far as its accuracy goes: it foretells answers about items "
        "that it had not seen, and even the lower end of its accuracy, "
        f"{percent(result.accuracy.low)}, is above the {percent(result.majority_share)} of the "
        f"largest class.{also}"
    )


def _key_numbers(result: FitResult) -> list[tuple[str, str, str]]:
    found = []
    if result.accuracy is not None:
        sure = confidence(result.accuracy)
        found.append((percent(result.accuracy.estimate), "of new items right (estimated)", sure))
    noise = result.noise
    for rate, what in (
        (noise.similar_flip, "of the same pairs called different"),
        (noise.dissimilar_flip, "of the different pairs called same"),
    ):
        sure = between(rate) if noise.has_interval else "no interval"
        found.append((percent(rate.estimate), what, sure))
    per_item = f"{2 * result.n_pairs / max(result.n_items, 1):.1f} per item"
    found.append(
        (f"{result.n_pairs:,}", f"answers about {count(result.n_items, 'item')}", per_item)
    )
    return found


def _data(result: FitResult) -> list[Block]:
    audit, triangles = result.audit, result.audit.triangles
    broken = triangles.broken_share
    rows = [
        ("items", f"{result.n_items:,}", f"{audit.isolated_items:,} of them never compared"),
        ("answers", f"{result.n_pairs:,}", _same_share(result)),
        ("items of known class", f"{result.n_labels:,}", ""),
        ("annotators", f"{result.n_annotators:,}", "" if result.n_annotators else "not recorded"),
        ("pairs asked more than once", f"{audit.repeated_pairs:,}", ""),
        ("pairs answered both ways", f"{audit.contradictions:,}", "evidence of wrong answers"),
        ("items compared with themselves", f"{audit.self_pairs:,}", "they teach nothing"),
        (
            "triangles that cannot be (same, same, different)",
            "none closed" if broken is None else percent(broken, 1),
            "" if broken is None else f"of {'about ' * triangles.sampled}{triangles.closed:,}",
        ),
        ("separate groups of compared items", f"{audit.components:,}", "1 is best"),
    ]
    blocks: list[Block] = [table(("what", "number", "remark"), rows, numeric=[1])]
    if result.notes:
        blocks += [paragraph("On reading the files:"), bullets(result.notes)]
    if result.features:
        cells = column_rows((one.name, one.kind, one.note) for one in result.features)
        caption = (
            f"Columns of the items; they became {count(result.n_features, 'number')} per item."
        )
        blocks.append(table(("column", "read as", "what was made of it"), cells, caption))
    return blocks


def _same_share(result: FitResult) -> str:
    share_of_same = result.audit.same_share
    return "" if share_of_same is None else f"{percent(share_of_same)} of them “same”"


def _reading(result: FitResult) -> str:
    files = listed(f"{name} ({role})" for role, name in result.sources.items())
    columns = [f"{role}: {name}" for role, name in result.columns.items() if name is not None]
    words = [f"“{word}” is {meaning}" for word, meaning in result.answers.items()]
    return " ".join(
        f"{start} {'; '.join(parts)}."
        for start, parts in (("Files:", [files]), ("Columns:", columns), ("Answers:", words))
        if parts
    )


def _noise(result: FitResult) -> list[Block]:
    noise = result.noise
    shown = share if noise.has_interval else lambda rate: percent(rate.estimate)
    told = (
        f"Of pairs of the same class, {shown(noise.similar_flip)} are called different; of pairs "
        f"of different classes, {shown(noise.dissimilar_flip)} are called same."
    )
    worth = 1.0 - noise.similar_flip.estimate - noise.dissimilar_flip.estimate
    meaning = (
        f"That leaves {percent(worth)} of the signal of faultless answers: as a rule of thumb, "
        f"{1.0 / worth**2:.0f} of these say as much as one faultless answer."
        if worth > 0.05
        else "Such answers say next to nothing about the classes."
    )
    names = [one.name for one in result.classes]
    rows = [
        (name, *(percent(chance) for chance in chances))
        for name, chances in zip(names, noise.same_probability, strict=True)
    ]
    caption = "Chance that a pair is called “same”, by the classes of its two items."
    matrix = table(("class", *names), rows, caption, numeric=range(1, len(names) + 1))
    how = paragraph(
        f"Kind of noise assumed: {noise.family}. The rates were learnt from the answers."
    )
    return [paragraph(f"{told} {meaning}"), matrix, how]


def _classes(result: FitResult) -> list[Block]:
    rows = [(one.name, percent(one.share, 1), f"{one.n_items:,}") for one in result.classes]
    blocks: list[Block] = [
        table(("class", "estimated share", "of the given items"), rows, numeric=[1, 2])
    ]
    if result.prior is not None:
        last = result.classes[-1].name
        blocks.append(paragraph(f"Share of class {last}: {confidence(result.prior)}."))
    if result.names_known:
        known = count(result.n_labels, "item of known class", "items of known class")
        blocks.append(paragraph(f"The classes are named after {known}."))
    else:
        text = "Pairs cannot tell which group is called what: the names only number the groups."
        blocks.append(callout(f"{text} A few items of known class (--labels) would name them."))
    return blocks


def _how_to_read(result: FitResult) -> list[Block]:
    return [
        bullets(
            [
                "No true class was used to learn or to judge, except for the items of known class "
                "if there are any. Accuracies are therefore estimates.",
                "“At N% confidence” means: of a hundred such intervals, about N hold the truth.",
                f"“Held out” means: each of {result.n_folds} models was judged on answers about "
                "items that it had never seen.",
                "An answer “foretold rightly” agrees with what was said, not with the truth: where "
                "people err, nobody can foretell every answer.",
                "A suspect answer is one that the model thinks wrong. It is worth a second look, "
                "not a verdict.",
            ]
        )
    ]


def _small_print(result: FitResult) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    sums = "; ".join(f"{role} {digest}" for role, digest in result.checksums.items())
    return (
        f"{result.method_title} with {result.estimator_title}, seed {result.seed}, "
        f"{result.seconds:.0f} s, {result.date}. Versions: {versions}. SHA-256: {sums}."
    )
