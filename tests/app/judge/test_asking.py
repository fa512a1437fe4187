"""Runs against a local server: zero lost, zero doubled, no limit passed, whatever goes wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest

import noisypairs
from noisypairs.app.ask.answers import Answers
from noisypairs.app.ask.database import Database
from noisypairs.app.ask.people import People
from noisypairs.app.ask.project import Project, Settings
from noisypairs.app.ask.questions import KNOWN, Questions
from noisypairs.app.files import BadFile
from noisypairs.app.judge import Endpoint, Item, JudgeFailed, Limits, Prompt, asking, judge
from noisypairs.app.judge.asking import Ledger
from tests.app.judge.judge_problems import (
    ITEM,
    candidates,
    items,
    replaying,
    right_words,
    rows,
    same,
)

PAIRS = candidates()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Wait hardly at all before a question is asked again."""
    monkeypatch.setattr(asking, "FIRST_WAIT", 0.001)


def endpoint(server, **settings):
    return Endpoint(server.url, "model", Prompt(), **settings)


def always(left, right):
    del left, right
    return True


def run(server, store, judges=None, **settings):
    given = {"pairs": PAIRS, "repeat": 0.0, "parallel": 3, **settings}
    return judge(items(), judges or {"model/question": endpoint(server)}, store, **given)


def asked_pairs(server):
    """Return the two items of every answered request, in either order."""
    return Counter(frozenset(ITEM.findall(prompt)) for prompt in server.answered)


def test_every_listed_pair_is_answered_once_and_right(tmp_path):
    store = tmp_path / "a.db"
    with replaying() as server:
        found = run(server, store)
    assert len(rows(store)) == len(PAIRS) == found.n_replies
    assert set(asked_pairs(server).values()) == {1}
    titles = items().title
    for left, right, answer, name in rows(store):
        assert answer == ("same" if same(titles[left], titles[right]) else "different")
        assert name == "model/question"
    assert "would not help" in found.stopped
    assert {one["headers"].get("Authorization") for one in server.requests} == {None}
    assert noisypairs.judge is judge


def flaky(number, prompt):
    return (429, 500, right_words(prompt), 503, right_words(prompt))[number % 5]


@pytest.mark.parametrize("budget", [1, 7, 20])
def test_failures_are_asked_again_and_the_budget_is_never_passed(tmp_path, budget):
    store = tmp_path / "a.db"
    with replaying(flaky, 0.002) as server:
        found = run(server, store, budget=budget)
        again = run(server, store, budget=budget)
    assert len(rows(store)) == len(server.answered) == found.n_replies == budget
    assert set(asked_pairs(server).values()) == {1}
    assert found.stopped.startswith("the budget is spent")
    assert again.n_replies == budget


def test_what_is_not_read_is_asked_once_more_and_then_unsure(tmp_path):
    store = tmp_path / "a.db"

    def nonsense(number, prompt):
        return "bananas" if "could not be read" not in prompt or number % 2 else "Yes"

    with replaying(nonsense) as server:
        run(server, store, budget=21, parallel=1)
    said = Counter(row[2] for row in rows(store))
    assert set(said) <= {"same", "unsure"}
    assert said["unsure"]
    assert len(server.answered) == 21  # a second chance is an answer, too
    assert len(rows(store)) == 11
    assert max(asked_pairs(server).values()) == 2


def test_costs_stay_under_their_limit_and_count_what_the_server_says(tmp_path):
    limits = {"prices": (10.0, 20.0), "max_cost": 0.02}
    with replaying() as server:
        found = run(server, tmp_path / "a.db", **limits)
    each = (100 * 10 + 5 * 20) / 1e6
    assert found.cost == pytest.approx(each * found.n_replies)
    assert found.cost <= 0.02
    bound = endpoint(server).most_tokens(Item({"title": "x" * 25}, "a"), Item({"title": "y"}, "b"))
    assert found.cost + Limits(**limits).cost(bound) > 0.018
    with pytest.raises(ValueError, match="needs prices"):
        Limits(max_cost=1.0)


def test_a_request_that_was_under_way_when_it_was_killed_counts_as_paid(tmp_path):
    database = Database(tmp_path / "a.db")
    limits = Limits(10, 1.0, (1e6, 1e6))
    ledger = Ledger(database, limits)
    database.run("PRAGMA foreign_keys = OFF")
    assert ledger.reserve(1, (0, 1)) is None or ledger.cost == 1.0
    after = Ledger(database, limits)
    assert (after.replies, after.cost) == (0, 1.0)
    assert after.reserve(2, (0, 1)) is None


def test_a_hanging_server_is_left_in_time_and_the_run_goes_on_later(tmp_path, monkeypatch):
    monkeypatch.setattr(asking, "TRIES", 2)
    store, free = tmp_path / "a.db", threading.Event()

    def hang(number, prompt):
        if number > 4:
            free.wait(20)
        return right_words(prompt)

    with replaying(hang) as server:
        judges = {"model/question": endpoint(server, timeout=1.0)}
        with pytest.raises(JudgeFailed, match=r"no answer to 5 questions in a row \(no answer in"):
            run(server, store, judges)
        assert len(rows(store)) <= 5
        free.set()
        run(server, store)
    assert len(rows(store)) == len(PAIRS)
    assert len({frozenset(row[:2]) for row in rows(store)}) == len(PAIRS)


def test_a_wrong_key_or_model_ends_the_run_at_once(tmp_path):
    for status, said in ((401, "--key-env"), (404, "name of the model"), (307, "redirects")):
        with (
            replaying(lambda *_, status=status: status) as server,
            pytest.raises(JudgeFailed, match=said),
        ):
            run(server, tmp_path / f"{status}.db", parallel=1)
        assert len(server.requests) == 1


def test_after_a_kill_nothing_is_lost_or_doubled(tmp_path):
    """The process is killed again and again in the middle of its requests."""
    (tmp_path / "items.csv").write_text(items().rename_axis("id").to_csv())
    pd.DataFrame(PAIRS, columns=["left", "right"]).to_csv(tmp_path / "pairs.csv", index=False)
    store = tmp_path / "a.db"
    with replaying(seconds=0.02) as server:
        program = "from noisypairs.cli import main; main()"
        words = [sys.executable, "-c", program, "judge", str(tmp_path / "items.csv")]
        words += ["--store", str(store), "--endpoint", server.url, "--model", "m", "--quiet"]
        words += ["--pairs", str(tmp_path / "pairs.csv"), "--repeat", "0", "--parallel", "3"]
        kept: set[tuple[str, ...]] = set()
        for n in (5, 15):
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=os.environ)
            last = time.monotonic() + 60
            while len(server.requests) < n and time.monotonic() < last:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait(20)
            assert kept <= set(rows(store))
            kept = set(rows(store))
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert kept <= set(rows(store))
    assert len(rows(store)) == len({frozenset(row[:2]) for row in rows(store)}) == len(PAIRS)
    assert len(server.requests) <= len(PAIRS) + 2 * 3  # what was under way at a kill
    assert "Judges alone cannot show the accuracy" in done.stdout


def test_pairs_asked_twice_show_consistency_and_the_influence_of_order(tmp_path):
    titles = items().title

    def biased(left, right):
        """Say "same" of all pairs in which the item that comes first in the file is first."""
        return left.id < right.id or same(left["title"], right["title"])

    def steady(left, right):
        return same(left["title"], right["title"])

    found = judge(items(), {"a": biased, "b": steady}, pairs=PAIRS, repeat=1.0, budget=400)
    by = found.answers.assign(
        pair=[frozenset(p) for p in zip(found.answers.left, found.answers.right, strict=True)]
    )
    twice = by[by.annotator == "b again"].merge(by[by.annotator == "b"], on="pair")
    assert (twice.left_x == twice.right_y).all()
    assert (twice.answer_x == twice.answer_y).all()
    orders = found.orders
    assert orders.first > 10
    assert orders.second == 0
    assert orders.p_value < 0.01
    assert 0.3 < orders.contradicted.estimate < 0.7
    assert found.agreement.estimate < 1.0
    assert "contradict themselves" in " ".join(found.lines())
    assert len(titles) == 24


def test_people_answer_what_judges_leave_open_and_then_it_is_measured(tmp_path):
    """What is wanted of people comes first on their page; then accuracy has an interval."""
    frame, store = items(160), tmp_path / "a.db"
    pairs = candidates(160)
    frame.rename_axis("id").to_csv(tmp_path / "items.csv")
    rng = np.random.default_rng(1)
    wrong = {frozenset(pair) for pair in pairs if rng.random() < 0.06}

    def erring(left, right):
        return same(left["title"], right["title"]) != (frozenset((left.id, right.id)) in wrong)

    ask = partial(judge, tmp_path / "items.csv", erring, store, pairs=pairs, target=0.9)
    alone = ask()
    assert alone.accuracy is None
    assert alone.rates == {}
    assert not alone.enough
    assert len(alone.people) >= 29  # a perfect record of so many would show .9
    assert list(alone.people.columns[:3]) == ["left", "right", "answer"]
    database = Database(store)
    settings = Settings(tmp_path / "items.csv", store)
    shown = Project(settings, database).shown
    ann, questions = People(database).add("ann"), Questions(database, 0.0, 0)
    wanted = {frozenset(pair) for pair in zip(alone.people.left, alone.people.right, strict=True)}
    kinds = Counter()
    for _ in range(len(wanted)):
        one = questions.current(ann, shown.numbers, shown.row_of)
        ends = [shown.ids[shown.row_of[end]] for end in (one.left, one.right)]
        assert frozenset(ends) in wanted
        kinds[one.kind] += 1
        said = "same" if same(*frame.title[ends]) else "different"
        Answers(database).record(ann, one.number, said, 1.0, False)
    assert kinds[KNOWN] >= 29
    after = questions.current(ann, shown.numbers, shown.row_of)
    assert (
        frozenset(shown.ids[shown.row_of[one]] for one in (after.left, after.right)) not in wanted
    )
    database.close()
    after = ask()
    assert len(after.people) == 0
    assert after.n_replies == alone.n_replies  # nothing is asked again
    assert 1.0 - len(wrong) / len(pairs) in after.accuracy
    assert after.n_known == kinds[KNOWN]
    assert all(len(wrong) / len(pairs) in rate for rate in after.rates["judge"])


def test_answers_of_people_in_a_file_are_kept_once_and_known(tmp_path):
    frame, gold = items(), tmp_path / "gold.csv"
    lines = [f"{a},{b},{int(same(*frame.title[[a, b]]))}" for a, b in PAIRS[:20]]
    gold.write_text("left,right,same\n" + "\n".join(lines) + "\n")
    store = tmp_path / "a.db"

    ask = partial(judge, frame, always, store, pairs=PAIRS, gold=gold)
    first, second = ask(), ask()
    assert sum(row[3] == "gold" for row in rows(store)) == 20
    assert first.n_known == second.n_known == 20
    for left, right, chance in first.pairs[["left", "right", "same"]].itertuples(index=False):
        if {(left, right), (right, left)} & set(PAIRS[:20]):  # gold is in the likelihood
            assert same(*frame.title[[left, right]]) == (chance > 0.5)
    assert first.accuracy is not None
    gold.write_text("left,right,same\ni00,i99,1\ni00,i01,0\n")
    with pytest.raises(BadFile, match="names 'i99', which is no item; items are called as 'i00'"):
        ask()


def test_classes_are_learnt_from_the_pairs_that_the_chooser_picks():
    rng = np.random.default_rng(0)
    size = np.repeat([0.0, 6.0], 20) + rng.normal(size=40)
    frame = pd.DataFrame({"size": size}, index=[f"i{k}" for k in range(40)])

    def alike(left, right):
        return (float(left["size"]) > 3) == (float(right["size"]) > 3)

    found = judge(frame, alike, budget=150, n_classes=2, repeat=0.1)
    assert found.n_replies <= 150
    assert {"random", "chosen", "repeat"} == set(found.answers.kind)
    truth = [
        alike({"size": size[int(a[1:])]}, {"size": size[int(b[1:])]})
        for a, b in zip(found.pairs.left, found.pairs.right, strict=True)
    ]
    assert np.mean((found.pairs.same > 0.5) == truth) > 0.95
    assert found.accuracy is None  # judges alone: nobody knows


def test_wrong_use_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(TypeError, match="neither a Judge nor a function"):
        judge(items(), {"a": 3})
    with pytest.raises(BadFile, match="names 'x1', which is no item"):
        judge(items(), always, pairs=[("i00", "x1")])
    with pytest.raises(ValueError, match="at least 1"):
        judge(items(), always, budget=0)
    with pytest.raises(ValueError, match="share of the pairs"):
        judge(items(), always, repeat=2.0)
    frame = tmp_path / "items.csv"
    items().rename_axis("id").to_csv(frame)
    store = tmp_path / "a.db"
    database = Database(store)
    People(database).add("ann")
    database.close()
    with pytest.raises(ValueError, match="'ann' is a person in this store"):
        judge(frame, {"ann": always}, store, pairs=PAIRS)


def test_an_error_in_a_function_of_ones_own_comes_out_and_its_answers_stay(tmp_path):
    store, calls = tmp_path / "a.db", []

    def failing(left, right):
        calls.append(1)
        if len(calls) > 6:
            raise KeyError("mine")
        return True

    with pytest.raises(KeyError, match="mine"):
        judge(items(), failing, store, pairs=PAIRS, parallel=1)
    assert len(rows(store)) == 6


def test_replies_are_kept_as_they_came_only_where_asked_for(tmp_path):
    raw = tmp_path / "raw.jsonl"
    with replaying() as server:
        run(server, tmp_path / "a.db", budget=4, keep_raw=raw)
    assert len(re.findall("they differ|Yes", raw.read_text())) == 4
    assert b"they differ" not in (tmp_path / "a.db").read_bytes()
