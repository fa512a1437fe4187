"""What the server knows and says: whose request it is, what they see, and the owner's numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from noisypairs.app.ask.answers import Answers
from noisypairs.app.ask.fits import Estimate, Fits
from noisypairs.app.ask.people import OWNER, People, Person, alike
from noisypairs.app.ask.project import Project, Shown
from noisypairs.app.ask.questions import Question, Questions
from noisypairs.app.report.page import clean
from noisypairs.assess.words import count, percent, share
from noisypairs.estimation import Interval, wilson


@dataclass
class Site:
    """One project as it is served; ``loopback`` says that only this machine can reach it.

    ``public`` is the address at which a proxy serves it, without a slash at its end.
    """

    project: Project
    loopback: bool = True
    public: str = ""
    people: People = field(init=False)
    questions: Questions = field(init=False)
    answers: Answers = field(init=False)
    fits: Fits = field(init=False)

    def __post_init__(self) -> None:
        database, settings = self.project.database, self.project.settings
        self.people, self.answers, self.fits = (
            People(database),
            Answers(database, settings.levels),
            Fits(database),
        )
        self.questions = Questions(database, settings.repeated)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers send cookies to every port of an address."""
        return f"noisypairs-{self.people.project[:8]}"

    def is_owner(self, cookies: dict[str, str]) -> bool:
        """Whether a browser has been given the owner's token."""
        return self.people.role(cookies.get(f"{self.cookie}-owner", "")) == OWNER

    def may_join(self, cookies: dict[str, str]) -> bool:
        """Whether somebody may give a name: by a token, or anybody on this machine."""
        return self.loopback or self.people.role(cookies.get(f"{self.cookie}-join", "")) is not None

    def person(self, cookies: dict[str, str]) -> Person | None:
        """Return who a browser says it is."""
        token = cookies.get(self.cookie)
        return None if token is None else self.people.by_token(token)

    def state(self, person: Person) -> dict[str, Any]:
        """Return all that the page shows: the pair, the progress and how it is asked."""
        shown, settings = self.project.shown, self.project.settings
        question = self.questions.current(person, shown.numbers, shown.row_of)
        return {
            "name": person.name,
            "question": settings.question,
            "blind": settings.blind,
            "pair": None if question is None else self._pair(question, shown),
            "progress": self.progress(person),
        }

    def _pair(self, question: Question, shown: Shown) -> dict[str, Any]:
        left, right = shown.item(question.left), shown.item(question.right)
        texts = zip(left.pop("cells"), right.pop("cells"), strict=True)
        rows = zip(shown.kinds.items(), texts, strict=True)
        return {
            "question": question.number,
            "left": left,
            "right": right,
            "columns": [
                {"name": clean(name), "kind": kind, "left": one, "right": other}
                for (name, kind), (one, other) in rows
            ],
            "chance": None if self.project.settings.blind else question.chance,
        }

    def progress(self, person: Person) -> dict[str, Any]:
        """Return how far the project is, in numbers and words."""
        estimate, n_answers = self._for_this_target(self.fits.estimate()), self.answers.count()
        said: dict[str, Any] = {"yours": self.answers.count(person), "all": n_answers}
        settings = self.project.settings
        said |= {"target": percent(settings.target), "enough": False, "accuracy": "", "left": ""}
        if estimate is None or estimate.accuracy is None:
            return said | {"note": _why_not_yet(estimate)}
        now = Interval(*estimate.accuracy, estimate.level)
        words = {
            "reached": f"Enough: the target of {percent(settings.target)} is reached.",
            "doubtful": "The target seems to be reached, but a warning of the model stands.",
            "open": "How many answers are left cannot be said yet.",
        }
        return said | {
            "enough": estimate.state == "reached",
            "accuracy": share(now),
            "level": percent(estimate.level),
            "left": _left(estimate, n_answers),
            "note": words.get(estimate.state, ""),
        }

    def _for_this_target(self, estimate: Estimate | None) -> Estimate | None:
        """Return an estimate without what it says of another target, as before a restart."""
        if estimate is None or estimate.target == self.project.settings.target:
            return estimate
        return replace(estimate, state="open", left=None)

    def history(self, person: Person, before: int | None) -> list[dict[str, Any]]:
        """Return one's own answers, the last first."""
        listed, shown = [], self.project.shown
        for answer, low, high, swapped, said, at in self.answers.history(person, before):
            left, right = (high, low) if swapped else (low, high)
            ends = {"left": _end(shown, left), "right": _end(shown, right)}
            listed.append({"answer": answer, "said": said, "at": at, **ends})
        return listed

    def owners_page(self) -> dict[str, Any]:
        """Return what the owner's page shows: everybody's answers and skill, and the model."""
        fit = self.fits.latest()
        estimate = None if fit is None else self._for_this_target(fit.estimate)
        judged = {} if fit is None else {row["name"]: row for row in fit.people}
        both, agreeing = self.answers.agreement()
        people = {person.number: person for person in self.people.everybody()}
        similar = alike(person.name for person in people.values())
        rows = [_row(people[number], judged, *of) for number, *of in self.answers.tallies()]
        return {
            "people": [row | {"alike": similar[row["name"]]} for row in rows],
            "estimate": estimate,
            "accuracy": _accuracy(estimate),
            "left": "" if estimate is None else _left(estimate, self.answers.count()),
            "n_answers": self.answers.count(),
            "seen": None if fit is None else count(fit.n_answers, "answer"),
            "note": "" if estimate is None else _sentence(estimate.note),
            "n_items": len(self.project.shown.ids),
            "agreement": (count(both, "pair was", "pairs were"), share(wilson(agreeing, both)))
            if both
            else None,
            "repeated": percent(self.project.settings.repeated),
            "target": percent(self.project.settings.target),
            "trouble": self.project.trouble,
            "join": None if self.loopback else self.people.join_token,
            "most": self.people.most_by_link,
        }


def _accuracy(estimate: Estimate | None) -> str:
    if estimate is None or estimate.accuracy is None:
        return ""
    return share(Interval(*estimate.accuracy, estimate.level))


def _sentence(note: str) -> str:
    """Return a remark with a capital letter and a full stop.

    >>> _sentence("the last fit failed"), _sentence("There may be more."), _sentence("")
    ('The last fit failed.', 'There may be more.', '')
    """
    return f"{note[:1].upper()}{note[1:].rstrip('.')}." if note else ""


def _why_not_yet(estimate: Estimate | None) -> str:
    """Say why there is no accuracy; particulars after a colon are for the owner.

    >>> _why_not_yet(Estimate(0.95, note="the last fit failed: KeyError: 3"))
    'No accuracy can be said yet: the last fit failed.'
    """
    if estimate is None or not estimate.note:
        return "The model has too few answers yet to say how good it is."
    return f"No accuracy can be said yet: {estimate.note.partition(':')[0]}."


def _left(estimate: Estimate, n_answers: int) -> str:
    """Say about how many answers were left until the target when that was estimated.

    Answers since then are no step towards it: what they changed only the next estimate knows.
    """
    if estimate.state == "reached":
        return "none"
    if estimate.left is None:
        return ""
    if n_answers - estimate.n_answers >= estimate.left:
        return "estimated again soon"
    return f"about {estimate.left:,} more than {estimate.n_answers:,}"


def _end(shown: Shown, number: int) -> dict[str, Any]:
    """Return by what somebody knows an item again in the list of their answers."""
    if number not in shown.row_of:
        return {"id": "(no longer there)", "media": None}
    item = shown.item(number)
    return {"id": item["id"], "media": item["media"]}


def _row(
    person: Person,
    judged: dict[str, dict[str, Any]],
    same: int,
    different: int,
    unsure: int,
    skipped: int,
    undone: int,
    seconds: float | None,
) -> dict[str, Any]:
    """Return somebody's row of the owner's table, with counts as of `Answers.tallies`."""
    found = judged.get(person.name)
    rates = {
        key: "–"
        if found is None
        else share(Interval(found[key], found[f"{key}_low"], found[f"{key}_high"]))
        for key in ("similar_flip", "dissimilar_flip")
    }
    return {
        **vars(person),
        "answers": same + different,
        "same": percent(same / (same + different)) if same + different else "–",
        "unsure": unsure,
        "skipped": skipped,
        "undone": undone,
        "seconds": "–" if seconds is None else f"{seconds:.1f}",
        "right": "–" if found is None else percent(found["accuracy"]),
        "verdict": "–" if found is None else found["verdict"],
        **rates,
    }
