"""How far a command is, on stderr: a bar with the time left on a terminal, else a line per step.

The steps of a command are the outermost stages of `noisypairs.graph.progress`; what fits inside
them report moves the bar, and is shown there. Lines are for the steps alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from noisypairs.cli.terminal import console_of, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from noisypairs.graph.progress import At, Stage

#: Seconds of work after which a bar appears, and the time left with it.
SLOW = 2.0
#: Of less work than this share no time left is estimated.
ENOUGH = 0.03


@contextmanager
def steps(shares: Sequence[float], quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give what to call as each step begins; ``shares`` say how long they take in comparison."""
    from noisypairs.graph.progress import At

    begun, total = 0, sum(shares)
    with shown(quiet) as whole:

        def begin(step: str) -> None:
            nonlocal begun
            done, part = sum(shares[:begun]), sum(shares[begun : begun + 1])
            begun += 1
            whole.move(At(step), done / total, part / total)

        yield begin


@contextmanager
def shown(quiet: bool) -> Iterator[Stage]:
    """Show how far the work in the block is; give its outermost stage, to be moved by hand."""
    from noisypairs.graph.progress import listening

    console, left = console_of(100, stderr=True, quiet=quiet), TimeLeft(time.monotonic())
    with _bar(console, left) as bar:
        task = bar.add_task("", total=1.0)

        def show(stages: tuple[At, ...], share: float) -> None:
            left.estimate(time.monotonic(), share)
            step, *inside = filter(None, map(str, stages))
            if console.is_terminal:
                text = f"{step}: {', '.join(inside)}" if inside else step
                bar.update(task, completed=share, description=one_line(text))
            elif len(stages) == 1:
                console.print(f"{step} … {left.text(time.monotonic())}".rstrip())

        with listening(show) as whole:
            yield whole


class TimeLeft:
    """When the work will be done, by the share that is done and the time it took.

    Between two reports the time left is counted down, and nothing is said once it has run out: the
    stage takes longer than expected, and only its end tells more.

    >>> left = TimeLeft(begun=0.0)
    >>> left.estimate(now=30.0, share=0.25)
    >>> left.text(now=30.0), left.text(now=50.0), left.text(now=130.0)
    ('about 90 s left', 'about 70 s left', '')
    """

    def __init__(self, begun: float) -> None:
        self.begun, self.end = begun, begun

    def estimate(self, now: float, share: float) -> None:
        """Estimate the end anew, where enough is done for that."""
        passed = now - self.begun
        if passed >= SLOW and share >= ENOUGH:
            self.end = self.begun + passed / share

    def text(self, now: float) -> str:
        """Say how much time is left, if that is known."""
        return f"about {duration(self.end - now)} left" if self.end > now else ""


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(0.2), duration(42), duration(400)
    ('1 s', '42 s', '7 min')
    """
    return f"{max(seconds, 1.0):.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _bar(console: Console, left: TimeLeft) -> Progress:
    """Return a bar that is empty until the work is slow, and leaves nothing behind."""
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.table import Column
    from rich.text import Text

    class TimeLeftColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            del task  # the time left counts down between its updates
            return Text(left.text(time.monotonic()))

    class SlowBar(Progress):
        def get_renderables(self) -> Iterator[Any]:
            slow = time.monotonic() - left.begun >= SLOW
            yield from super().get_renderables() if slow else [Text("")]

    words = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = (
        TextColumn("{task.description}", markup=False, table_column=words),
        BarColumn(10),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        TimeLeftColumn(),
    )
    hidden = console.quiet or not console.is_terminal
    return SlowBar(*columns, console=console, transient=True, expand=True, disable=hidden)
