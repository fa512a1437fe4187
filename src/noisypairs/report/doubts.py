"""Whom and what to doubt: annotators with their rates, and answers that are probably wrong."""

from __future__ import annotations

from noisypairs.annotators import KINDS, AnnotatorRow, AnnotatorTable
from noisypairs.methods import FitResult
from noisypairs.report import charts
from noisypairs.report.page import Block, callout, figure, paragraph, table
from noisypairs.report.words import chance, count, described, listed, percent, share, shortened

#: A page shows so many annotators, answers and letters of a name; the files have them all.
MOST_ANNOTATORS, MOST_SUSPECTS, LONGEST_NAME = 20, 20, 40


def annotators(found: AnnotatorTable | None) -> list[Block]:
    """Show who errs how often, the most suspect first, with the crowd as a measure."""
    if found is None or len(found) == 0:
        return [paragraph("The answers do not say who gave them, so nobody can be judged.")]
    shown = most_suspect(found)
    names = [_name(row.name) for row in shown]
    rates = [(row.similar_flip, row.dissimilar_flip) for row in shown]
    picture = charts.annotator_plot(
        names,
        [[one.estimate for one in row] for row in rates],
        [[one.low for one in row] for row in rates],
        [[one.high for one in row] for row in rates],
        stressed=[row.verdict in KINDS[1:] for row in shown],
    )
    caption = (
        f"{'The' if len(shown) == len(found) else f'{len(shown)} of the'} {len(found):,} "
        f"annotators, the most suspect first, with {percent(found.level)} intervals. A coin errs "
        "in half of both kinds of pairs; names in bold are suspect."
    )
    headings = ("annotator", "answers", "right", "same called different", "different called same")
    cells = [_cells(row, name) for row, name in zip(shown, names, strict=True)] + [
        _cells(found.crowd, "all together")
    ]
    whole = table((*headings, "verdict"), cells, numeric=(1, 2, 3, 4), bold=[len(shown)])
    return [_verdict(found), figure(picture, caption), whole]


def most_suspect(found: AnnotatorTable, most: int = MOST_ANNOTATORS) -> list[AnnotatorRow]:
    """Return the annotators a reader should see: suspects first, then by what answers are worth."""
    order = sorted(found, key=lambda row: row.informativeness.estimate)
    order.sort(key=lambda row: row.verdict not in KINDS[1:])
    return order[:most]


def _verdict(found: AnnotatorTable) -> Block:
    bad = found.suspects
    if not bad:
        return paragraph("No annotator stands out: all answer like people who look at the pairs.")
    some = [_name(name) for name in bad[:MOST_ANNOTATORS]]
    more = f" and {len(bad) - len(some)} more" * (len(bad) > len(some))
    text = f"{count(len(bad), 'annotator')} of {len(found):,} should be looked at: "
    return callout(text + listed(some) + more + ".", "caution")


def _cells(row: AnnotatorRow, name: str) -> tuple[str, ...]:
    rates = share(row.similar_flip), share(row.dissimilar_flip)
    return (name, f"{row.n_answers:,}", percent(row.accuracy), *rates, row.verdict)


def suspects(result: FitResult) -> list[Block]:
    """List the answers most probably wrong, with both items side by side."""
    if not result.suspects:
        return [paragraph("No answer is more likely wrong than right.")]
    shown = result.suspects[:MOST_SUSPECTS]
    who = any(one.annotator is not None for one in shown)
    headings = ["answer", "probably wrong", "first item", "second item"] + ["annotator"] * who
    rows = []
    for one in shown:
        left = _item(one.left, described(one.left_features))
        right = _item(one.right, described(one.right_features))
        cells = [one.answer, chance(one.probability), left, right]
        rows.append(cells + [_name(one.annotator or "")] * who)
    share_of_all = percent(result.n_suspects / max(result.n_pairs, 1))
    text = (
        f"{count(result.n_suspects, 'answer is', 'answers are')} more likely wrong than right, "
        f"{share_of_all} of all. These {len(shown)} are the surest of them; the model already "
        "gives them little weight."
    )
    return [paragraph(text), table(headings, rows, numeric=(1,))]


def _item(name: str, features: str) -> str:
    return f"{_name(name)} ({features})" if features else _name(name)


def _name(name: object) -> str:
    return shortened(str(name), LONGEST_NAME)
