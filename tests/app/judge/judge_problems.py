"""A server that answers as a model would, or as badly as it is told to, and items to ask about."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd

ITEM = re.compile(r"<item>(\{.*?\})</item>")
N_ITEMS = 24

#: What a server does with a request: a status, or words to answer with.
Behaviour = Callable[[int, str], "int | str"]


def items(n: int = N_ITEMS, note: str = "") -> pd.DataFrame:
    """Return records of which every two are the same thing."""
    titles = [f"thing {k // 2} of shop {k % 2}{note}" for k in range(n)]
    return pd.DataFrame({"title": titles}, index=[f"i{k:02d}" for k in range(n)])


def candidates(n: int = N_ITEMS) -> list[tuple[str, str]]:
    """Return pairs of them, a third of which are the same."""
    ends = [(k, (k + d) % n) for k in range(0, n, 2) for d in (1, 3, 6)]
    return [(f"i{a:02d}", f"i{b:02d}") for a, b in ends]


def same(left: str, right: str) -> bool:
    """Whether two titles name one thing."""
    one, other = (re.findall(r"thing (\d+)", text)[0] for text in (left, right))
    return one == other


def right_words(prompt: str) -> str:
    """Return what a perfect model says to a prompt."""
    left, right = (json.loads(found)["title"] for found in ITEM.findall(prompt))
    return "Yes." if same(left, right) else "No, they differ."


@dataclass
class Replay:
    """A server that runs: where, and every request with the status that it got."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def answered(self) -> list[str]:
        """The prompts that were answered, in the order in which they were."""
        return [one["prompt"] for one in self.requests if one["status"] == 200]


@contextlib.contextmanager
def replaying(behave: Behaviour | None = None, seconds: float = 0.0) -> Iterator[Replay]:
    """Serve on the loopback address until the block ends; ``behave`` gets a number and a prompt."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = body["messages"][-1]["content"]
            prompt = content if isinstance(content, str) else content[0]["text"]
            entry = {"prompt": prompt, "body": body, "headers": dict(self.headers), "status": 0}
            with lock:
                number = len(replay.requests)
                replay.requests.append(entry)
            time.sleep(seconds)
            done = right_words(prompt) if behave is None else behave(number, prompt)
            entry["status"] = done if isinstance(done, int) else 200
            reply = {
                "choices": [{"message": {"content": done}}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 5},
            }
            data = json.dumps(reply).encode()
            with contextlib.suppress(OSError):
                self.send_response(entry["status"])
                if 300 <= entry["status"] < 400:
                    self.send_header("Location", "http://127.0.0.2:9/elsewhere")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    replay = Replay(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield replay
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def rows(store: Path) -> list[tuple[Any, ...]]:
    """Return (left, right, answer, annotator) of a store."""
    from noisypairs.app.files.store import stored_answers

    return [row[:4] for row in stored_answers(store)]
