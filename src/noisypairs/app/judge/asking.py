"""Asking judges: in batches, in parallel, within a budget, and never twice what is answered.

Every request is in the store before it is sent, and ends there in one transaction with its answer.
So a killed run goes on where it was: what had an answer keeps it, what was under way is asked anew.
"""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.ask.answers import Answers
from noisypairs.app.ask.database import Database, check_place, now
from noisypairs.app.ask.people import People, Person
from noisypairs.app.ask.project import Looks, Project, Settings, Shown, read_looks
from noisypairs.app.ask.questions import KNOWN, REPEAT, Pick, Questions
from noisypairs.app.files import BadFile, Dataset, read_frame, read_pairs
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.writing import Claimed, claim
from noisypairs.app.judge.judges import Item, Judge, JudgeFailed, Reply, Unanswered
from noisypairs.app.judge.learners import AGAIN, BY_JUDGES, ByClasses, ByPairs, Pair
from noisypairs.app.judge.statement import Judged, statement
from noisypairs.assess import first_pairs
from noisypairs.errors import did_you_mean
from noisypairs.pairs.answers import Meaning, parse
from noisypairs.pairs.columns import couples_of

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before a question is asked again; each time twice as long."""

TRIES = 7
"""Requests for one question."""

FAILURES = 5
"""Questions in a row without an answer end the run."""


@dataclass(frozen=True)
class Limits:
    """What may be spent: answers, and money by ``prices`` per million tokens, in and out."""

    budget: int = 500
    max_cost: float | None = None
    prices: tuple[float, float] | None = None
    parallel: int = 4

    def __post_init__(self) -> None:
        if self.budget < 1 or self.parallel < 1:
            raise ValueError("budget and parallel: expected whole numbers of at least 1")
        if self.max_cost is not None and self.prices is None:
            raise ValueError(
                "a limit of costs needs prices per million tokens, in and out, such as "
                "prices=(0.15, 0.6) or --prices 0.15,0.6"
            )
        if min([self.max_cost or 0.0, *(self.prices or ())]) < 0:
            raise ValueError("prices and costs are not negative")

    def cost(self, tokens: tuple[float, float]) -> float:
        """Return what a request of so many tokens costs."""
        return sum(n * price for n, price in zip(tokens, self.prices or (0, 0), strict=True)) / 1e6


class Ledger:
    """What was sent and what it costs; nothing is sent that could pass a limit.

    ``replies`` are answers that came, ``cost`` is what all requests took or may have taken; both
    count those under way, which are ``held``, at the most that they may take.
    """

    def __init__(self, database: Database, limits: Limits) -> None:
        self.database, self.limits = database, limits
        self.held: dict[int, float] = {}
        database.run("UPDATE requests SET state = 'lost' WHERE state = 'open'")
        row = database.row(
            "SELECT coalesce(sum(state = 'answered'), 0), "
            "coalesce(sum(cost * (state <> 'refused')), 0.0) FROM requests"
        )
        assert row is not None
        self.replies, self.cost = int(row[0]), float(row[1])

    @property
    def left(self) -> int:
        """How many answers the budget leaves."""
        return self.limits.budget - self.replies

    def reserve(self, question: int, tokens: tuple[int, int]) -> int | None:
        """Enter a request that takes so many tokens at most; None if that is more than is left."""
        cost, limit = self.limits.cost(tokens), self.limits.max_cost
        with self.database.writing():
            if self.left < 1 or (limit is not None and self.cost + cost > limit):
                return None
            add = "INSERT INTO requests (question, sent_at, cost, state) VALUES (?, ?, ?, 'open')"
            request = self.database.run(add, question, now(), cost)
            self.held[request] = cost
            self.replies, self.cost = self.replies + 1, self.cost + cost
            return request

    def close(self, request: int, state: str, tokens: tuple[int, int] | None = None) -> None:
        """Say how a request ended, and what it took where that is known."""
        with self.database.writing():
            held = self.held.pop(request)
            cost = held if tokens is None else self.limits.cost(tokens)
            end = "UPDATE requests SET state = ?, cost = ? WHERE request = ?"
            self.database.run(end, state, cost, request)
            self.replies -= state != "answered"
            self.cost += (0.0 if state == "refused" else cost) - held


@dataclass(frozen=True)
class Task:
    """A pair for a judge; ``question`` is its number where it was asked before a kill."""

    judge: str
    person: Person
    pick: Pick
    swapped: bool
    question: int | None = None


class Asking:
    """One run over an open store: asks until a limit, or until more answers would not help."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        looks: Looks,
        judges: Mapping[str, Judge],
        limits: Limits,
        listed: Sequence[Pair] | None = None,
        raw: Path | None = None,
        words: Mapping[str, str] | None = None,
        tell: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.settings, self.database, self.judges = settings, database, judges
        self.limits, self.raw, self.words, self.tell = limits, raw, words, tell
        self.shown = Project(settings, database, looks).shown
        self.questions, self.answers = Questions(database, 0.0), Answers(database)
        self.ledger, self.random = Ledger(database, limits), random.Random(settings.seed)
        self.people = {name: judge_named(database, name) for name in judges}
        self.again = {name: judge_named(database, name + AGAIN) for name in judges}
        self.learner: ByClasses | ByPairs
        if listed is None:
            self.learner = ByClasses(settings)
        else:
            ends = [sorted(self.shown.numbers[row] for row in pair) for pair in listed]
            pairs = [(low, high) for low, high in ends]
            self.learner = ByPairs(settings, self.shown, pairs, self.answers)
        self.stop, self._failed, self._writing = threading.Event(), 0, threading.Lock()

    def run(self) -> Judged:
        """Ask, refit, and ask again; say what came of it."""
        self._ask_all(self._interrupted())
        while True:
            numbers = {one.number for one in self.people.values()}
            asked = Counter((low, high) for who, low, high in self._answered() if who in numbers)
            picks = self.learner.next(asked, len(self.people))
            tasks = self._tasks(picks)
            if self.stop.is_set() or self.ledger.left < 1:
                reason = "the budget is spent"
                break
            if not tasks:
                reason = "more answers of these judges would not help"
                break
            self._ask_all(tasks)
        why = f"{reason}: {self.learner.note}" if self.learner.note else reason
        found = statement(self.database, self.shown, self.learner, self.settings.target)
        spent = self.ledger.replies, self.ledger.cost
        return replace(found, stopped=why, n_replies=spent[0], cost=spent[1])

    def _answered(self) -> set[tuple[int, int, int]]:
        """Return who of the judges answered which pair, as (person, low, high)."""
        rows = self.database.rows(
            "SELECT person, low, high FROM standing WHERE person IN "
            "(SELECT person FROM people WHERE joined_by = ?)",
            BY_JUDGES,
        )
        return {(int(person), int(low), int(high)) for person, low, high in rows}

    def _interrupted(self) -> list[Task]:
        """Return what these judges were asked and did not answer."""
        named = {one.number: (name, one) for name, one in self.people.items()}
        named |= {one.number: (name, one) for name, one in self.again.items()}
        rows = self.database.rows(
            "SELECT question, person, low, high, kind, swapped FROM questions WHERE open"
        )
        return [
            Task(*named[person], Pick(low, high, kind), bool(swapped), question)
            for question, person, low, high, kind, swapped in rows
            if person in named and low in self.shown.row_of and high in self.shown.row_of
        ]

    def _tasks(self, picks: Sequence[Pick]) -> list[Task]:
        """Share pairs among the judges, a part of them twice: in the other order, by another."""
        answered = self._answered()
        count = Counter(person for person, _, _ in answered)
        left = self.ledger.left
        tasks: list[Task] = []

        def give(pick: Pick) -> str | None:
            free = (n for n, p in self.people.items() if (p.number, *pick[:2]) not in answered)
            name = min(free, key=lambda one: count[self.people[one].number], default=None)
            if name is not None:
                swapped = self.random.random() < 0.5
                add(Task(name, self.people[name], pick, swapped))
            return name

        def add(task: Task) -> None:
            tasks.append(task)
            count[task.person.number] += 1
            answered.add((task.person.number, *task.pick[:2]))

        for pick in picks:
            if len(tasks) >= left:
                break
            if (name := give(pick)) is None or self.random.random() >= self.settings.repeated:
                continue
            repeat = pick._replace(kind=REPEAT)
            other = self.again[name]
            if (other.number, *pick[:2]) not in answered:
                add(Task(name, other, repeat, not tasks[-1].swapped))
            give(repeat)
        return tasks[: max(left, 0)]

    def _ask_all(self, tasks: list[Task]) -> None:
        """Ask in parallel; at an error or Ctrl-C wait for what is under way, and keep it."""
        self.tell(self.ledger.replies)
        with ThreadPoolExecutor(self.limits.parallel) as pool:
            done = [pool.submit(self._ask, task) for task in tasks]
            try:
                for one in done:
                    one.result()
            except BaseException:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _ask(self, task: Task) -> None:
        """Ask one question until it has an answer, or is left open."""
        if self.stop.is_set():
            return
        question = task.question
        if question is None:
            question = self.questions.ask(task.person, task.pick, task.swapped).number
        pictures = self.settings.images is not None
        low, high = (shown_item(self.shown, number, pictures) for number in task.pick[:2])
        ends = (high, low) if task.swapped else (low, high)
        started, said, insist = time.monotonic(), None, False
        while said is None:
            got = self._reply(task, question, ends, insist)
            if got is None and not insist:
                return
            said = "unsure" if got is None else meaning(got[1].text, self.words)
            said = said or ("unsure" if insist else None)
            with self.database.writing():
                if got is not None:
                    self.ledger.close(got[0], "answered", got[1].tokens)
                if said is not None:
                    seconds = time.monotonic() - started
                    self.answers.record(task.person, question, said, seconds, False)
            insist = True

    def _reply(
        self, task: Task, question: int, ends: tuple[Item, Item], insist: bool
    ) -> tuple[int, Reply] | None:
        """Return a reply with the number of its request; None where no more may be sent."""
        judge, why = self.judges[task.judge], ""
        for attempt in range(TRIES):
            tokens = judge.most_tokens(*ends)
            request = self.ledger.reserve(question, tokens)
            while request is None and self.ledger.held and not self.stop.wait(0.05):
                request = self.ledger.reserve(question, tokens)  # others may take less than held
            if request is None:
                self._withdraw(question)
                self.stop.set()
                return None
            try:
                reply = judge.ask(*ends, insist=insist)
            except Unanswered as error:
                self.ledger.close(request, "lost" if error.billed else "refused")
                why = str(error)
                if not error.again:
                    break
                usual = FIRST_WAIT * 2**attempt * (1.0 + self.random.random())
                if self.stop.wait(min(usual if error.wait is None else error.wait, LONGEST_WAIT)):
                    return None
            except BaseException:
                self.stop.set()
                self.ledger.close(request, "lost")
                raise
            else:
                self._failed = 0
                self._keep_raw(task, ends, reply)
                return request, reply
        self._failed += 1
        if self._failed >= FAILURES:
            self.stop.set()
            raise JudgeFailed(
                f"{task.judge} gave no answer to {FAILURES} questions in a row ({why}). Answers so "
                "far are kept: run the same command again to go on"
            )
        return None

    def _withdraw(self, question: int) -> None:
        """Take back a question for which no request was ever sent."""
        sent = self.database.row("SELECT 1 FROM requests WHERE question = ?", question)
        if sent is None:
            self.database.run("DELETE FROM questions WHERE question = ?", question)

    def _keep_raw(self, task: Task, ends: tuple[Item, Item], reply: Reply) -> None:
        if self.raw is None:
            return
        line = {"judge": task.judge, "left": ends[0].id, "right": ends[1].id, "said": reply.text}
        with self._writing, self.raw.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


def meaning(text: str, words: Mapping[str, str] | None = None) -> Meaning | None:
    """Return what an answer means by the rules for words of models, None where it is not read.

    >>> [meaning(text) for text in ("**Yes**, both are lamps", "I'm sorry, I can't", "lamp")]
    ['same', 'unsure', None]
    """
    try:
        found = parse([text], unsure="drop", words=words)
    except ValueError:
        return None
    if not found.usable[0]:
        return "unsure" if text.strip() else None
    return "same" if found.same[0] else "different"


def shown_item(shown: Shown, number: int, pictures: bool) -> Item:
    """Return an item as judges see it: the columns shown, and its picture, if nothing else is."""
    row = shown.row_of[number]
    cells = {name: texts[row] for name, texts in shown.cells.items()}
    shows = (pictures or not any(cells.values())) and shown.media.kind(row) == "image"
    return Item(cells, shown.ids[row], shown.file(number) if shows else None)


def judge_named(database: Database, name: str) -> Person:
    """Return the place of a judge in the store, made if it is not there."""
    people = People(database)
    with database.writing():
        person = people.named(name)
        if person is None:
            person = people.add(name)
            by = "UPDATE people SET joined_by = ? WHERE person = ?"
            database.run(by, BY_JUDGES, person.number)
        elif database.row("SELECT joined_by FROM people WHERE person = ?", person.number) != (
            BY_JUDGES,
        ):
            raise ValueError(f"{name!r} is a person in this store: give the judge another name")
    return person


def listed_pairs(listed: Any, ids: Sequence[str]) -> list[Pair]:
    """Return the pairs to judge as rows of items, each once: of a file or table of two ids."""
    frame = listed
    if isinstance(listed, str | PathLike):
        frame = read_frame(Path(listed))
    elif not isinstance(listed, pd.DataFrame):
        frame = pd.DataFrame(list(listed), columns=["left", "right"])
    couples = couples_of(frame.columns) or [tuple(frame.columns[:2])]
    row_of = {id: row for row, id in enumerate(ids)}
    found: dict[Pair, None] = {}
    for ends in zip(*(as_text(frame[name]).tolist() for name in couples[0]), strict=True):
        for id in ends:
            if id not in row_of:
                raise BadFile(f"the pairs name {id!r}, which is no item; {_near(id, row_of)}")
        low, high = sorted(row_of[id] for id in ends)
        if low < high:
            found[low, high] = None
    return list(found)


def _near(id: str, known: Mapping[str, int]) -> str:
    if len(known) > 20:
        return f"items are called as {next(iter(known))!r} is"
    return did_you_mean(id, known)


def read_gold(gold: Path, ids: Sequence[str]) -> Dataset:
    """Return what people say in a file (left, right, same), if all of it is about these items."""
    found, known = read_pairs(gold), dict.fromkeys(ids, 0)
    for id in found.ids:
        if id not in known:
            raise BadFile(f"{gold} names {id!r}, which is no item; {_near(id, known)}")
    return found


def keep_gold(database: Database, shown: Shown, found: Dataset) -> None:
    """Keep what people say in a file as answers in the store, each once."""
    number = {id: shown.numbers[row] for row, id in enumerate(shown.ids)}
    pairs, people, questions = found.pairs, People(database), Questions(database, 0.0)
    known = pairs.annotator_names
    names = ["gold"] if known is None else [str(name) for name in known.tolist()]
    with database.writing():
        persons = [people.join(name, known_too=True) for name in names]
        kinds = dict[Pair, str]()
        for low, high, kind in database.rows("SELECT low, high, kind FROM wanted"):
            kinds[low, high] = kind
        who = [0] * pairs.n_pairs if pairs.annotator is None else pairs.annotator.tolist()
        rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.same.tolist(), who, strict=True)
        for left, right, same, one in rows:
            low, high = sorted(number[found.ids[end]] for end in (left, right))
            before = "SELECT 1 FROM standing WHERE low = ? AND high = ? AND person = ?"
            if low == high or database.row(before, low, high, persons[one].number):
                continue
            pick = Pick(low, high, kinds.get((low, high), KNOWN))
            question = questions.ask(persons[one], pick).number
            said = "same" if same else "different"
            Answers(database).record(persons[one], question, said, 0, False)


@contextmanager
def opened(settings: Settings) -> Iterator[Database]:
    """Open a store for one run: no second one asks judges from it at the same time."""
    check_place(settings.store)
    place = settings.store.resolve()
    try:
        with claim(place.with_name(f"{place.name}.judges")), closing(Database(place)) as database:
            yield database
    except Claimed:
        raise BadFile(
            f"{settings.store} is in use by another `noisypairs judge`: end that one first"
        ) from None


def judge(
    items: str | PathLike[str] | pd.DataFrame,
    ask: Callable[..., Any] | Judge | Mapping[str, Callable[..., Any] | Judge],
    store: str | PathLike[str] | None = None,
    *,
    budget: int = 500,
    max_cost: float | None = None,
    prices: tuple[float, float] | None = None,
    parallel: int = 4,
    pairs: Any = None,
    gold: str | PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    images: str | None = None,
    id: str | None = None,
    n_classes: int | tuple[int, ...] | None = None,
    target: float = 0.95,
    repeat: float = 0.1,
    words: Mapping[str, str] | None = None,
    keep_raw: str | PathLike[str] | None = None,
    seed: int = 0,
    tell: Callable[[int], None] = lambda _: None,
) -> Judged:
    """Let judges answer pairs of items, and say what is known then.

    - ``items``: a file, or a data frame whose index has the ids.
    - ``ask``: a function of two items, each a mapping of columns to text with an ``id``: it returns
      a bool, None for unsure, or words. Or a `Judge`; or several of either, by name. Names that
      begin alike up to a "/" are one family, such as prompts of one model.
    - ``store``: the SQLite file of the answers; the same call goes on with it. Kept in memory of
      the result only, if not given.
    - ``budget`` counts answers that came, an unreadable one and its second chance as two;
      ``max_cost`` is in the currency of ``prices`` per million tokens, in and out.
    - ``pairs``: the pairs to judge, such as records that may be the same: a file or table of two
      columns of ids. Each is then judged by itself. Else all pairs are in question, items fall into
      ``n_classes``, and the chooser of ``noisypairs ask`` picks what to ask.
    - ``gold``: a file of answers of people (left, right, same), drawn at random from the pairs.
    - ``repeat``: the share of pairs asked twice, in the other order, and of another judge.
    - ``words`` says what answers mean that are not read: {"The two refer to the same*": "same"}.
    - ``tell`` is called before each batch with the number of answers so far.

    >>> frame = pd.DataFrame({"size": [1.0, 5.0] * 10}, index=[f"i{k}" for k in range(20)])
    >>> found = judge(frame, lambda a, b: a["size"] == b["size"], budget=60, n_classes=2)
    >>> found.n_replies <= 60, found.accuracy is None  # judges alone: nobody knows
    (True, True)
    """
    if not 0.0 <= repeat <= 1.0 or not 0.0 < target < 1.0:
        raise ValueError("repeat is a share of the pairs, and target an accuracy below 1")
    limits = Limits(budget, max_cost, prices, parallel)
    judges = judges_named(ask)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = Settings(
            items=items_file(items, folder),
            store=folder / "answers.db" if store is None else Path(store),
            images=images,
            columns=None if columns is None else tuple(columns),
            id="id" if isinstance(items, pd.DataFrame) and id is None else id,
            n_classes=n_classes,
            target=target,
            repeated=repeat,
            seed=seed,
        )
        looks = read_looks(settings)  # and all other files: a refusal leaves no store behind
        listed = None if pairs is None else listed_pairs(pairs, looks.ids)
        known = None if gold is None else read_gold(Path(gold), looks.ids)
        database = stack.enter_context(opened(settings))
        raw = None if keep_raw is None else Path(keep_raw)
        asking = Asking(settings, database, looks, judges, limits, listed, raw, words, tell)
        stack.enter_context(closing(asking.learner))
        if known is not None:
            keep_gold(database, asking.shown, known)
        return asking.run()


def expected(
    items: Path,
    judges: Mapping[str, Judge],
    limits: Limits,
    n_shown: int,
    *,
    pairs: Any = None,
    columns: Sequence[str] | None = None,
    images: str | None = None,
    id: str | None = None,
) -> dict[str, Any]:
    """Return the first prompts by judge, and the tokens and costs that the budget may take.

    Nothing is asked and no file is made. A token is taken for four bytes, and an answer for three
    tokens; ``most`` counts as the limit of costs does.
    """
    shown_columns = None if columns is None else tuple(columns)
    looks = read_looks(Settings(items, Path(), images, shown_columns, id))
    numbers = list(range(len(looks.ids)))
    shown = Shown(**vars(looks), numbers=numbers, row_of=dict(enumerate(numbers)))
    if pairs is None:
        found = first_pairs(np.zeros((len(numbers), 1)), 100, random_state=0)
        ends = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    else:
        ends = listed_pairs(pairs, looks.ids)[:100]
    asked = [[shown_item(shown, end, images is not None) for end in pair] for pair in ends]
    bounds = np.array([one.most_tokens(*pair) for one in judges.values() for pair in asked])
    into, out = bounds.mean(axis=0)
    usual = into / 4, min(out, 3.0)
    return {
        "prompts": [
            (name, one.prompt_text(*pair))
            for name, one in judges.items()
            for pair in asked[:n_shown]
        ],
        "tokens": limits.budget * sum(usual),
        "cost": limits.budget * limits.cost(usual),
        "most": min(limits.budget * limits.cost((into, out)), limits.max_cost or np.inf),
    }


def judges_named(ask: Any) -> dict[str, Judge]:
    """Return judges by name, functions among them made judges."""
    given = ask if isinstance(ask, Mapping) else {"judge": ask}
    found: dict[str, Judge] = {}
    for name, one in given.items():
        if not isinstance(one, Judge) and not callable(one):
            raise TypeError(f"ask: {name!r} is neither a Judge nor a function of two items: {one}")
        found[str(name)] = one if isinstance(one, Judge) else Judge(one)
    if not found:
        raise ValueError("ask: give at least one judge")
    return found


def items_file(items: Any, folder: Path) -> Path:
    """Return the file of the items; a data frame is written to one, its index as the ids."""
    if not isinstance(items, pd.DataFrame):
        return Path(items)
    frame = items if "id" in items.columns else items.rename_axis("id").reset_index()
    path = folder / "items.parquet"
    frame.assign(id=frame["id"].astype(str)).to_parquet(path, index=False)
    return path
