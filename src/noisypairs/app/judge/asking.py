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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from noisypairs.app.judge.learners import AGAIN, BY_JUDGES, ByClasses, ByPairs, Heard, Pair
from noisypairs.app.judge.statement import Judged, statement
from noisypairs.assess import first_pairs
from noisypairs.pairs.answers import Meaning, parse
from noisypairs.pairs.columns import couples_of

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before a question is asked again; each time twice as long."""

TRIES = 7
"""Requests for one question."""

FAILURES = 5
"""Questions in a row without an answer end the run."""

_JUDGES = f"(SELECT person FROM people WHERE joined_by = '{BY_JUDGES}')"


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
    """A pair for a judge."""

    judge: str
    person: Person
    pick: Pick
    swapped: bool


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
            self.learner = ByPairs(settings, self.shown, [(low, high) for low, high in ends])
        self.stop, self._failed, self._writing = threading.Event(), 0, threading.Lock()

    def run(self) -> Judged:
        """Ask, refit, and ask again; say what came of it."""
        try:
            return self._run()
        finally:
            self._end_questions()

    def _run(self) -> Judged:
        self._end_questions()
        numbers = {one.number for one in self.people.values()}
        while True:
            answered = self._answered()
            asked = Counter((low, high) for who, low, high in answered if who in numbers)
            heard = Heard.of(self.database, self.shown)
            tasks = self._tasks(self.learner.next(heard, asked, len(numbers)), answered)
            spent = self.stop.is_set() or self.ledger.left < 1
            if spent or not tasks:
                break
            self._ask_all(tasks)
        why = "the budget is spent" if spent else "more answers of these judges would not help"
        return replace(
            statement(self.database, heard, self.learner, self.settings.target),
            stopped=f"{why}: {self.learner.note}" if self.learner.note else why,
            n_replies=self.ledger.replies,
            cost=self.ledger.cost,
        )

    def _end_questions(self) -> None:
        """End what judges were asked and did not answer: these pairs are as good as never asked."""
        self.database.run(f"UPDATE questions SET open = 0 WHERE open AND person IN {_JUDGES}")

    def _answered(self) -> set[tuple[int, int, int]]:
        """Return who of the judges answered which pair, as (person, low, high)."""
        query = f"SELECT person, low, high FROM standing WHERE person IN {_JUDGES}"
        return {(who, low, high) for who, low, high in self.database.rows(query)}

    def _tasks(self, picks: Sequence[Pick], answered: set[tuple[int, int, int]]) -> list[Task]:
        """Share pairs among the judges, a part of them twice: in the other order, by another."""
        tasks: list[Task] = []
        count = Counter(person for person, _, _ in answered)

        def give(
            pick: Pick, among: Mapping[str, Person], swapped: bool | None = None
        ) -> Task | None:
            """Give a pair to whoever of these has not answered it, and least of all."""
            free = (n for n, who in among.items() if (who.number, *pick[:2]) not in answered)
            name = min(free, key=lambda one: count[among[one].number], default=None)
            if name is None:
                return None
            swapped = self.random.random() < 0.5 if swapped is None else swapped
            tasks.append(Task(name, among[name], pick, swapped))
            count[among[name].number] += 1
            answered.add((among[name].number, *pick[:2]))
            return tasks[-1]

        left = self.ledger.left
        for pick in picks:
            if len(tasks) >= left:
                break
            task = give(pick, self.people)
            if task is not None and self.random.random() < self.settings.repeated:
                repeat = pick._replace(kind=REPEAT)
                give(repeat, {task.judge: self.again[task.judge]}, not task.swapped)
                give(repeat, self.people)
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
    people, by_judges = People(database), "SELECT 1 FROM people WHERE person = ? AND joined_by = ?"
    with database.writing():
        if (person := people.named(name)) is None:
            person = people.add(name)
            by = "UPDATE people SET joined_by = ? WHERE person = ?"
            database.run(by, BY_JUDGES, person.number)
        elif database.row(by_judges, person.number, BY_JUDGES) is None:
            raise ValueError(f"{name!r} is a person in this store: give the judge another name")
    return person


def listed_pairs(listed: Any, ids: Sequence[str]) -> list[Pair]:
    """Return the pairs to judge as rows of items, each once: of a file or table of two ids."""
    if isinstance(listed, str | PathLike):
        listed = read_frame(Path(listed))
    elif not isinstance(listed, pd.DataFrame):
        listed = pd.DataFrame(list(listed), columns=["left", "right"])
    couple = (couples_of(listed.columns) or [tuple(listed.columns[:2])])[0]
    left, right = (as_text(listed[name]).tolist() for name in couple)
    row_of = _known([*left, *right], ids, "the list of pairs")
    ends = (sorted((row_of[a], row_of[b])) for a, b in zip(left, right, strict=True))
    return list(dict.fromkeys((low, high) for low, high in ends if low < high))


def read_gold(gold: Path, ids: Sequence[str]) -> Dataset:
    """Return what people say in a file (left, right, same), if all of it is about these items."""
    found = read_pairs(gold)
    _known(found.ids, ids, gold)
    return found


def _known(named: Iterable[str], ids: Sequence[str], where: Path | str) -> dict[str, int]:
    """Return the row of every item by id; refuse names that are none."""
    row_of = {id: row for row, id in enumerate(ids)}
    for id in named:
        if id not in row_of:
            raise BadFile(f"{where} names {id!r}, which is no item; items are called as {ids[0]!r}")
    return row_of


def keep_gold(database: Database, shown: Shown, found: Dataset) -> None:
    """Keep what people say in a file as answers in the store, each once."""
    pairs, people, questions = found.pairs, People(database), Questions(database, 0.0)
    named = ["gold"] if pairs.annotator_names is None else pairs.annotator_names.tolist()
    who = [0] * pairs.n_pairs if pairs.annotator is None else pairs.annotator.tolist()
    number = dict(zip(shown.ids, shown.numbers, strict=True))
    with database.writing():
        persons = [people.join(str(name), known_too=True) for name in named]
        wanted = database.rows("SELECT low, high, kind FROM wanted")
        kinds = {(low, high): kind for low, high, kind in wanted}
        standing = set(database.rows("SELECT person, low, high FROM standing"))
        for left, right, same, one in zip(pairs.left, pairs.right, pairs.same, who, strict=True):
            low, high = sorted(number[found.ids[end]] for end in (left, right))
            key = persons[one].number, low, high
            if low < high and key not in standing:
                standing.add(key)
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
    kept = None if columns is None else tuple(columns)
    looks = read_looks(Settings(items, Path(), images, kept, id))
    rows = range(len(looks.ids))
    shown = Shown(**vars(looks), numbers=[*rows], row_of=dict(enumerate(rows)))
    if pairs is None:
        found = first_pairs(np.zeros((len(rows), 1)), 100, random_state=0)
        ends = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    else:
        ends = listed_pairs(pairs, looks.ids)[:100]
    asked = [[shown_item(shown, end, images is not None) for end in pair] for pair in ends]
    bounds = [one.most_tokens(*pair) for one in judges.values() for pair in asked]
    into, out = np.mean(bounds, axis=0)
    usual = into / 4, min(out, 3.0)
    first = [(n, one.prompt_text(*pair)) for n, one in judges.items() for pair in asked[:n_shown]]
    return {
        "prompts": first,
        "tokens": limits.budget * sum(usual),
        "cost": limits.budget * limits.cost(usual),
        "most": min(limits.budget * limits.cost((into, out)), limits.max_cost or np.inf),
    }


def judges_named(ask: Any) -> dict[str, Judge]:
    """Return judges by name, functions among them made judges."""
    given = ask if isinstance(ask, Mapping) else {"judge": ask}
    for name, one in given.items():
        if not isinstance(one, Judge) and not callable(one):
            raise TypeError(f"ask: {name!r} is neither a Judge nor a function of two items: {one}")
    if not given:
        raise ValueError("ask: give at least one judge")
    return {str(n): one if isinstance(one, Judge) else Judge(one) for n, one in given.items()}


def items_file(items: Any, folder: Path) -> Path:
    """Return the file of the items; a data frame is written to one, its index as the ids."""
    if not isinstance(items, pd.DataFrame):
        return Path(items)
    frame = items if "id" in items.columns else items.rename_axis("id").reset_index()
    path = folder / "items.parquet"
    frame.assign(id=frame["id"].astype(str)).to_parquet(path, index=False)
    return path
