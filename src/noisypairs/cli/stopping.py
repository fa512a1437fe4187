"""Ctrl-C and SIGTERM: a command ends at once, says what is kept, and leaves nothing half-done.

Nothing slow to import is imported here: a command may be stopped while it is still loading.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

#: Exit codes, as shells have them: 128 and the number of the signal.
INTERRUPTED, TERMINATED = 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; whatever handles Ctrl-C handles it too."""


#: What the command is going to write: path -> (what it holds, how the file was before).
_outputs: dict[Path, tuple[str, object]] = {}


def expect_outputs(outputs: Mapping[str, Path | None]) -> None:
    """Remember what the command is going to write, by what it holds, to say what of it is kept."""
    _outputs.clear()
    for what, path in outputs.items():
        if path is not None:
            _outputs[path] = (what, _state(path))


def exit_code(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was stopped."""
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


def message() -> str:
    """Return what to say when a command is stopped: which of its files are there already.

    >>> expect_outputs({})
    >>> message()
    'stopped; no file was left half-written'
    >>> expect_outputs({"the model": Path("none/model.skops")})
    >>> message()
    'stopped; no file was left half-written, and none was written yet'
    """
    start = "stopped; no file was left half-written"
    kept = [f"{what} in {path}" for path, (what, old) in _outputs.items() if _state(path) != old]
    if kept:
        return f"{start}; kept: {', '.join(kept)}"
    return f"{start}, and none was written yet" if _outputs else start


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM inside the block into one line on stderr and an exit code."""
    _outputs.clear()
    usual = signal.getsignal(signal.SIGTERM)
    if usual == signal.SIG_DFL:  # else somebody wants it ignored, or has other plans
        signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except KeyboardInterrupt as stop:
        sys.stderr.write(f"Error: {message()}\n")
        raise SystemExit(exit_code(stop)) from None
    finally:
        signal.signal(signal.SIGTERM, usual)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the command is leaving
    raise Terminated


def _state(path: Path) -> object:
    """Return what changes when a file is written."""
    if not path.exists():
        return None
    facts = path.stat()
    return facts.st_ino, facts.st_mtime_ns, facts.st_size
