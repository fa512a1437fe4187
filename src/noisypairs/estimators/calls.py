"""Which call of the user a fit belongs to: what was said once there need not be said in every fold.

Whatever refits an estimator in scikit-learn (`cross_val_score`, `GridSearchCV`, `learning_curve`)
does so through one `joblib.Parallel` per call, a variable of the function that was called. While
that lives, its folds are one call. Fits in worker processes cannot see it: there, a process counts.
"""

from __future__ import annotations

import multiprocessing
import sys
from types import FrameType
from weakref import WeakSet

from joblib import Parallel

#: The calls, each by its `Parallel`, in which something was said already, and what.
_said: dict[str, WeakSet[object]] = {}
#: Stands for the call in a worker process.
_WORKER: object = type("Worker", (), {})()


def said_before(what: str) -> bool:
    """Whether ``what`` was said in this call already; if not, it counts as said from now on.

    A fit that the user calls directly is a call of its own, and so are two in a loop.

    >>> said_before("something"), said_before("something")
    (False, False)
    """
    call = _refitting_call(sys._getframe(1))
    if call is None:
        return False
    known = _said.setdefault(what, WeakSet())
    if call in known:
        return True
    known.add(call)
    return False


def _refitting_call(frame: FrameType | None) -> object | None:
    """Return what stands for the outermost call of scikit-learn that refits, None without one."""
    found: list[object] = []
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("sklearn.model_selection."):
            found += [value for value in frame.f_locals.values() if isinstance(value, Parallel)]
        frame = frame.f_back
    if not found and multiprocessing.current_process().name != "MainProcess":
        return _WORKER
    return found[-1] if found else None
