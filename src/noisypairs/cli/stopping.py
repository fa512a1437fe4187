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


#: What the command is going to write: path -> (what it holds, how the file was before).
_outputs: dict[Path, tuple[str, object]] = {}
#: SIGTERMs that arrived: an engine that was stopped by one may end in a plain KeyboardInterrupt.
_terminations: list[int] = []
#: Stops of which the user has been told.
_told: list[KeyboardInterrupt] = []


def expect_outputs(outputs: Mapping[str, Path | None]) -> None:
    """Remember what the command is going to write, by what it holds, to say what of it is kept."""
    _outputs.clear()
    for what, path in outputs.items():
        if path is not None:
            _outputs[path] = (what, _state(path))


def told(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was stopped and says itself what is kept."""
    _told.append(stop)
    return TERMINATED if _terminations else INTERRUPTED


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
    except (KeyboardInterrupt, SystemExit) as leaving:
        stop = _stop_behind(leaving)
        if stop is None or stop in _told:
            raise
        sys.stderr.write(f"Error: {message()}\n")
        raise SystemExit(told(stop)) from None
    finally:
        signal.signal(signal.SIGTERM, usual)
        _told.clear()
        _terminations.clear()


def _stop_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return what an exit goes back to: typer turns Ctrl-C between commands into a silent one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    _terminations.append(number)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the command is leaving
    raise KeyboardInterrupt  # whatever handles Ctrl-C handles SIGTERM too


def _state(path: Path) -> object:
    """Return what changes when a file is written."""
    if not path.exists():
        return None
    facts = path.stat()
    return facts.st_ino, facts.st_mtime_ns, facts.st_size
