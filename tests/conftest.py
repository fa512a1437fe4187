"""One thread per process, however pytest is started.

The matrices of the tests are small: threads wait for each other longer than they compute, and much
longer where other processes want the cores. Libraries read this once, when they are imported, so it
is said before any test module; workers of pytest-xdist and commands in other processes inherit it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
