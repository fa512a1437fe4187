"""Numbers as a reader wants them: shares in percent, intervals from … to …, counts with commas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from numbers import Integral

from noisypairs.estimation import Interval

#: Examples that a sentence or a list shows.
N_SHOWN = 3
#: Letters of a name that a table shows.
LONGEST_NAME = 40


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent: never 0 or 100 unless it is exactly that.

    A share that whole percents would round to 0 or 100 gets one decimal; beyond that, a bound.

    >>> percent(0.256), percent(0.256, 1), percent(1.0)
    ('26%', '25.6%', '100%')
    >>> percent(0.996), percent(0.99996), percent(0.0001)
    ('99.6%', '>99.9%', '<0.1%')
    """
    text = f"{share:.{decimals}%}"
    if not 0.0 < share < 1.0 or text not in (f"{0:.{decimals}%}", f"{1:.{decimals}%}"):
        return text
    if decimals == 0:
        return percent(share, 1)
    step = 10.0**-decimals
    return f"<{step:.{decimals}f}%" if share < 0.5 else f">{100.0 - step:.{decimals}f}%"


def decimal(share: float) -> str:
    """Return a share with three decimals: never 0 or 1 unless it is exactly that.

    >>> decimal(0.8), decimal(0.9996), decimal(0.0001), decimal(1.0)
    ('0.800', '>0.999', '<0.001', '1.000')
    """
    text = f"{share:.3f}"
    if 0.0 < share < 1.0 and text in ("0.000", "1.000"):
        return "<0.001" if share < 0.5 else ">0.999"
    return text


def bracketed(interval: Interval) -> str:
    """Return an estimate of a share with its interval in brackets, three decimals each.

    >>> bracketed(Interval(0.9996, 0.987, 1.0))
    '>0.999 [0.987, 1.000]'
    """
    return f"{decimal(interval.estimate)} [{decimal(interval.low)}, {decimal(interval.high)}]"


def between(interval: Interval) -> str:
    """Return the two ends of an interval of a share.

    >>> between(Interval(0.9, 0.87, 0.93))
    '87 to 93%'
    """
    low, high = percent(interval.low), percent(interval.high)
    return high if low == high else f"{low.removesuffix('%')} to {high}"


def confidence(interval: Interval) -> str:
    """Return the ends of an interval with its level.

    >>> confidence(Interval(0.9, 0.87, 0.93))
    '87 to 93% at 95% confidence'
    """
    return f"{between(interval)} at {percent(interval.level)} confidence"


def share(interval: Interval | None) -> str:
    """Return an estimate with the ends of its interval, for a table; a dash for None.

    >>> share(Interval(0.9, 0.87, 0.93)), share(None)
    ('90% (87 to 93%)', '–')
    """
    return "–" if interval is None else f"{percent(interval.estimate)} ({between(interval)})"


def exact_share(interval: Interval) -> str:
    """Return an estimate with one decimal and, unless it has no width, its interval.

    >>> exact_share(Interval(0.9, 0.87, 0.93)), exact_share(Interval(0.9, 0.9, 0.9))
    ('90.0% (87.0% to 93.0%)', '90.0%')
    """
    middle, low, high = (
        percent(one, 1) for one in (interval.estimate, interval.low, interval.high)
    )
    return middle if interval.low == interval.high else f"{middle} ({low} to {high})"


def span(interval: Interval, form: str) -> str:
    """Return an estimate in this form with its interval, whose upper end may be infinite.

    >>> span(Interval(120.0, 80.0, float("inf")), "{:,.0f}")
    '120 [80, no limit]'
    """
    high = form.format(interval.high) if isfinite(interval.high) else "no limit"
    return f"{form.format(interval.estimate)} [{form.format(interval.low)}, {high}]"


def plain(interval: Interval | None) -> str:
    """Return an estimate that is no share with the ends of its interval; a dash for None.

    >>> plain(Interval(0.31, -0.02, 0.6)), plain(None)
    ('0.31 (-0.02 to 0.60)', '–')
    """
    if interval is None:
        return "–"
    ends = interval.estimate, interval.low, interval.high
    middle, low, high = (f"{round(end, 2) + 0.0:.2f}" for end in ends)  # no −0.00
    return f"{middle} ({low} to {high})"


def chance(probability: float) -> str:
    """Return a probability in percent that claims no certainty.

    >>> chance(0.42), chance(0.9999), chance(0.0001)
    ('42%', 'over 99%', 'under 1%')
    """
    if probability > 0.99:
        return "over 99%"
    return "under 1%" if probability < 0.01 else percent(probability)


def sentence(text: str) -> str:
    """Return the text with a capital and a full stop.

    >>> sentence("mean belief in the class"), sentence("Is it?")
    ('Mean belief in the class.', 'Is it?')
    """
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "…")) else ".")


def shortened(text: str, longest: int) -> str:
    """Return the text, cut where it is longer than that.

    >>> shortened("abcdef", 4), shortened("abc", 4)
    ('abc…', 'abc')
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def name_of(anybody: object) -> str:
    """Return a name or id that a table has room for; files hold it whole.

    >>> name_of("w17"), len(name_of("w" * 99))
    ('w17', 40)
    """
    return shortened(str(anybody), LONGEST_NAME)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "item"), count(2130, "item"), count(0, "class", "classes")
    ('1 item', '2,130 items', '0 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def hard_ones(number: int) -> str:
    """Return how many suspect answers are about hard pairs, as a sentence; nothing for none.

    >>> hard_ones(0), hard_ones(1)
    ('', '1 of them is about a hard pair, on which most people err; it shows no bad annotator. ')
    """
    if not number:
        return ""
    about = "is about a hard pair" if number == 1 else "are about hard pairs"
    show = "it shows" if number == 1 else "these show"
    return f"{number:,} of them {about}, on which most people err; {show} no bad annotator. "


def listed(names: Iterable[object]) -> str:
    """Return names as part of a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last


def described(features: Mapping[str, str], longest: int = 110) -> str:
    """Return an item's features in one line, cut where it gets too long to compare.

    >>> described({"colour": "red", "size": "3"})
    'colour red; size 3'
    """
    return shortened("; ".join(f"{name} {value}" for name, value in features.items()), longest)


def class_title(name: object) -> str:
    """Return what a class is called: by its name, or its number where it has none.

    >>> class_title(0), class_title("vase")
    ('group 1', 'vase')
    """
    return f"group {int(name) + 1}" if isinstance(name, Integral) else str(name)
