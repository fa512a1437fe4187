"""What is said of annotators, in words that whoever leads them can act upon."""

from __future__ import annotations

from noisypairs.annotators import ANOTHER, KINDS, UNDECIDED, AnnotatorTable
from noisypairs.annotators.crowd import Crowd
from noisypairs.assess.words import count, listed, name_of, percent, sentence

#: Verdict -> (what it means, what to do about it).
MEANINGS = {
    "honest": ("looks at the pairs, and errs as people do", "keep"),
    "spammer": ("answers without looking, as a coin would", "leave out, or ask again"),
    "always-same": ("says “same” whatever is shown", "leave out, or ask again"),
    "always-different": ("says “different” whatever is shown", "leave out, or ask again"),
    "reversed": (
        "says the opposite of what is seen, as if the two buttons were swapped",
        "check the instructions; answers given after that are as good as anybody's",
    ),
    ANOTHER: (
        "agrees with others of this kind, not with the classes of most: looks at something else",
        "ask what they looked at: most people need not be right",
    ),
    UNDECIDED: ("cannot be judged yet", "keep for now; judge after about 30 answers"),
}
#: Names that a sentence holds for each verdict.
MOST_NAMES = 5


def by_suspicion(found: AnnotatorTable) -> list[int]:
    """Return the positions of the rows: suspects first, then by what their answers are worth."""
    rows = found.rows
    order = sorted(range(len(rows)), key=lambda r: rows[r].informativeness.estimate)
    return sorted(order, key=lambda r: rows[r].verdict not in KINDS[1:])


def crowd_answer(found: Crowd) -> str:
    """Say how good the crowd is, who stands out and as what, and who cannot be judged yet."""
    table, crowd = found.table, found.table.crowd
    right = f"of which about {percent(crowd.accuracy)} are right"
    if table.together is not None and table.together.is_open:
        least = percent(table.together.least_wrong)
        right = f"of which at least {least} are wrong, as they contradict each other"
    parts = [
        f"{count(len(table), 'annotator')} gave {crowd.n_answers:,} answers, {right}.",
        standing_out(table),
    ]
    if found.contradicted:
        parts.insert(
            0,
            f"{count(len(found.contradicted), 'known pair')} "
            f"{'is' if len(found.contradicted) == 1 else 'are'} contradicted by nearly all of "
            "their answers: check these first, as known pairs count as true.",
        )
    if table.together is not None:
        parts.append(sentence(str(table.together)))
    elif table.choice is not None and table.choice.model == "pairs":
        parts.append("An error that everybody shares cannot be seen without known pairs (--gold).")
    if table.choice is not None and table.choice.are_records:
        parts.insert(
            1 + bool(found.contradicted),
            "The pairs look like records to link, not classes to learn.",
        )
    if others := table.named(ANOTHER):
        parts.insert(
            1,
            f"{count(len(others), 'person answers', 'people answer')} another question: they agree "
            "with each other, and not with the others, who need not be right.",
        )
    if few := len(table.named(UNDECIDED)):
        parts.append(
            f"{'All' if few == len(table) else f'{few:,}'} gave too few answers to be judged one "
            "by one."
        )
    after = found.without_suspects
    if after is not None:
        parts.append(
            f"Without those who stand out an answer is worth {after.informativeness.estimate:.2f} "
            f"instead of {crowd.informativeness.estimate:.2f} of a perfect one."
        )
    elif table.suspects:
        parts.append(f"Without those who stand out: {found.without_note}.")
    return " ".join(parts)


def least_missed(found: Crowd) -> str:
    """Say without whom the crowd would lose least; nothing where nobody could be left out."""
    if (r := found.least_missed) is None:
        return ""
    row, rest = found.table.rows[r], found.rest_accuracy[r]
    if rest is None:
        return ""
    changed = (
        ""
        if row.drop_effect is None
        else f", and {count(row.drop_effect, found.table.changed[:-1])} would change"
    )
    return (
        f"The crowd would lose least without {name_of(row.name)}: of the others' answers "
        f"{percent(rest, 1)} are right, of all {percent(found.table.crowd.accuracy, 1)}{changed}."
    )


def standing_out(table: AnnotatorTable) -> str:
    """Name those who are anything but honest, by verdict."""
    if not table.suspects:
        return "Nobody stands out."
    groups = []
    for kind in KINDS[1:]:
        names = [name_of(name) for name in table.named(kind)]
        if names:
            more = [f"{len(names) - MOST_NAMES:,} more"] * (len(names) > MOST_NAMES)
            noun = "spammers" if kind == "spammer" and len(names) > 1 else kind
            groups.append(f"{len(names):,} {noun} ({listed(names[:MOST_NAMES] + more)})")
    return f"{count(len(table.suspects), 'stands', 'stand')} out: {listed(groups)}."


def meanings(table: AnnotatorTable) -> list[tuple[str, int, str, str]]:
    """Return (verdict, how many have it, what it means, what to do) for each that occurs."""
    counted = {verdict: len(table.named(verdict)) for verdict in MEANINGS}
    return [(verdict, n, *MEANINGS[verdict]) for verdict, n in counted.items() if n]
