"""Who and what is suspect: annotators with their rates, and answers that are probably wrong."""

from __future__ import annotations

from noisypairs.annotators import KINDS, UNDECIDED, AnnotatorRow, AnnotatorTable
from noisypairs.app.fit.result import Evidence
from noisypairs.app.report import charts
from noisypairs.app.report.advice import by_suspicion, standing_out
from noisypairs.app.report.page import Block, callout, figure, paragraph, table
from noisypairs.app.words import chance, count, described, name_of, percent, share

#: A page shows so many annotators and answers; the files have them all.
MOST_ANNOTATORS, MOST_SUSPECTS = 20, 20


def annotators(found: AnnotatorTable | None) -> list[Block]:
    """Show who errs how often, the most suspect first, with the crowd as a measure."""
    if found is None or len(found) == 0:
        return [paragraph("The answers do not say who gave them, so nobody can be judged.")]
    shown = [found.rows[r] for r in by_suspicion(found)[:MOST_ANNOTATORS]]
    names = [name_of(row.name) for row in shown]
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
    return [_summary(found), figure(picture, caption), whole]


def _summary(found: AnnotatorTable) -> Block:
    few = len(found.named(UNDECIDED))
    open_ = f" {few:,} of {len(found):,} gave too few answers to be judged one by one." * (few > 0)
    if found.suspects:
        return callout(f"{standing_out(found)}{open_}", "caution")
    if few:
        return paragraph(f"{standing_out(found)}{open_}")
    return paragraph("Nobody stands out: all answer like people who look at the pairs.")


def _cells(row: AnnotatorRow, name: str) -> tuple[str, ...]:
    rates = share(row.similar_flip), share(row.dissimilar_flip)
    return (name, f"{row.n_answers:,}", percent(row.accuracy), *rates, row.verdict)


def suspects(found: Evidence, n_pairs: int) -> list[Block]:
    """List the answers most probably wrong, with both items side by side."""
    if not found.suspects:
        return [paragraph("No answer is more likely wrong than right.")]
    shown = found.suspects[:MOST_SUSPECTS]
    who = any(one.annotator is not None for one in shown)
    headings = ["answer", "probably wrong", "first item", "second item"] + ["annotator"] * who
    rows = []
    for one in shown:
        left = _item(one.left, described(one.left_features))
        right = _item(one.right, described(one.right_features))
        cells = [one.answer, chance(one.probability), left, right]
        rows.append(cells + [name_of(one.annotator or "")] * who)
    share_of_all = percent(found.n_suspects / max(n_pairs, 1))
    text = (
        f"{count(found.n_suspects, 'answer is', 'answers are')} more likely wrong than right, "
        f"{share_of_all} of all. These {len(shown)} are the most likely wrong; the model "
        "already gives them little weight."
    )
    return [paragraph(text), table(headings, rows, numeric=(1,))]


def _item(name: str, features: str) -> str:
    return f"{name_of(name)} ({features})" if features else name_of(name)
