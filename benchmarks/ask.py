"""How long people wait for the next pair while the model learns: a load test on this machine.

    python benchmarks/ask.py                       # 10,000 items, four people, 60 seconds
    python benchmarks/ask.py --items 500 --seconds 15

Items of two classes and five numbers are served by ``noisypairs.app.ask.serving`` as the command
does it, in a process of its own with its worker beside it. Each person is a process that answers as
fast as the server lets it, one answer in ten wrong, by its own connection. Measured is the time
from sending an answer to having the next pair (its JSON read), the answer being committed between;
and beside it that of a request that is refused at once, which shows what the machine itself takes.
The result is printed, and added to ``benchmarks/records/ask.jsonl`` with ``--record``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sqlite3
import tempfile
import time
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from noisypairs.app.ask.project import Settings
from noisypairs.app.ask.serving import serve

RECORDS = Path(__file__).parent / "records" / "ask.jsonl"
MOST_SECONDS = 300.0
WRONG = 0.1


def write_items(path: Path, n_items: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_items)
    X = rng.normal(size=(n_items, 5)) + 1.2 * y[:, None]
    rows = [
        f"{'ab'[c]}{k},{','.join(f'{v:.4f}' for v in row)}"
        for k, (c, row) in enumerate(zip(y, X, strict=True))
    ]
    path.write_text("id,v1,v2,v3,v4,v5\n" + "\n".join(rows) + "\n")


def server(settings: Settings, port: Connection) -> None:
    serve(settings, lambda where: port.send(where.people))


class Window:
    """A browser's connection, kept open; as light as can be, for it runs on the same cores."""

    def __init__(self, address: str) -> None:
        self.connection = HTTPConnection(urlsplit(address).netloc, timeout=60.0)
        self.headers = {"Content-Type": "application/json"}

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request and return the JSON that comes back."""
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, self.headers)
        response = self.connection.getresponse()
        if cookie := response.headers.get("Set-Cookie"):
            self.headers["Cookie"] = cookie.partition(";")[0]
        return json.loads(response.read())


def person(address: str, name: str, seconds: float, result: Connection) -> None:
    """Answer for so many seconds; send how long each next pair took, and each empty request."""
    rng = np.random.default_rng(abs(hash(name)) % 2**32)
    window, took, empty = Window(address), [], []
    state = window.call("POST", "/api/join", {"name": name})
    end = time.monotonic() + seconds
    while time.monotonic() < end and state["pair"] is not None:
        pair = state["pair"]
        same = (pair["left"]["id"][0] == pair["right"]["id"][0]) != (rng.random() < WRONG)
        body = {"question": pair["question"], "said": "same" if same else "different"}
        begun = time.perf_counter()
        state = window.call("POST", "/api/answer", body | {"seconds": 0.1, "shown": False})
        took.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        window.call("POST", "/api/undo", {"answer": None})  # refused at once: nothing is looked up
        empty.append(time.perf_counter() - begun)
    result.send((took, empty))


def measure(n_items: int, n_people: int, seconds: float) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder, "items.csv"), Path(folder, "answers.db"), n_classes=2)
        write_items(settings.items, n_items)
        receiver, sender = context.Pipe(False)
        serving = context.Process(target=server, args=(settings, sender))
        begun = time.perf_counter()
        serving.start()
        try:
            address = receiver.recv()
            started = time.perf_counter() - begun
            pipes = [context.Pipe(False) for _ in range(n_people)]
            crowd = [
                context.Process(target=person, args=(address, f"person {k}", seconds, pipe[1]))
                for k, pipe in enumerate(pipes)
            ]
            for one in crowd:
                one.start()
            took, empty = map(np.concatenate, zip(*(pipe[0].recv() for pipe in pipes), strict=True))
            for one in crowd:
                one.join()
        finally:
            serving.kill()  # nothing may be lost by it
            serving.join()
        with sqlite3.connect(settings.store) as store:
            (kept,) = store.execute("SELECT count(*) FROM answers").fetchone()
            fits = store.execute("SELECT count(*), max(n_answers) FROM fits").fetchone()
            kinds = dict(store.execute("SELECT kind, count(*) FROM questions GROUP BY kind"))
    middle, most, worst = np.quantile(took, [0.5, 0.95, 0.99])
    return {
        "items": n_items,
        "people": n_people,
        "seconds": seconds,
        "answers": len(took),
        "kept": kept,
        "fits": fits[0],
        "answers_in_last_fit": fits[1],
        "questions": kinds,
        "start_s": round(started, 2),
        "median_ms": round(1000 * float(middle), 1),
        "p95_ms": round(1000 * float(most), 1),
        "p99_ms": round(1000 * float(worst), 1),
        "longest_ms": round(1000 * float(took.max()), 1),
        "empty_median_ms": round(1000 * float(np.quantile(empty, 0.5)), 1),
        "empty_p95_ms": round(1000 * float(np.quantile(empty, 0.95)), 1),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    found = measure(given.items, given.people, min(given.seconds, MOST_SECONDS))
    print(json.dumps(found))
    if found["kept"] < found["answers"]:
        raise SystemExit("answers were lost")
    if given.record:
        with RECORDS.open("a") as stream:
            stream.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
