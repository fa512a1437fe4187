"""What is left when a command ends by a defect of ours: one line, and a log to send with a report.

Expected failures never come here: `app.failing_with` has a sentence for each.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

DEFECT = 70
"""The exit code, as sysexits.h has it for errors inside of a program."""


@contextmanager
def reported_defects() -> Iterator[None]:
    """Turn an exception that nobody expected into one line, a log file and an exit code."""
    try:
        yield
    except Exception as error:
        from noisypairs.cli.terminal import one_line

        name = type(error).__name__
        said = one_line(f"{name}: {error}" if str(error) else name)
        sys.stderr.write(
            f"Error: noisypairs itself failed, by a defect ({said[:300]}). Please report it with "
            f"{_log(error)}\n"
        )
        raise SystemExit(DEFECT) from None


def _log(error: Exception) -> str:
    """Write all that a report needs, readable by this user only; return what to say of it."""
    from noisypairs import __version__

    text = (
        f"noisypairs {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"noisypairs {' '.join(sys.argv[1:])}\n\n{''.join(traceback.format_exception(error))}"
    )
    try:
        descriptor, path = tempfile.mkstemp(prefix="noisypairs-defect-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError as why:
        return f"the command line; its traceback could not be written ({why})\n\n{text}"
    return f"{path}, which holds the traceback and the command line, and no data"
