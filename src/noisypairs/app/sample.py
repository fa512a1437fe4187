"""``noisypairs sample``: a small invented shop of pottery, and what twenty people said about it.

A kind decides sizes, weight, material and words, all with overlap: a large mug is as wide as a
small bowl, and a title need not name what is sold. Twenty people look at two pieces, and most of
them try hard. Pictures are drawn with Pillow: a piece on a table, 96 by 96 pixels.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noisypairs.algebra import Array
from noisypairs.app.files import delimited_text
from noisypairs.errors import MissingExtra

#: What every item is one of. No command is ever given it.
KINDS = ("bowl", "mug", "vase")


@dataclass(frozen=True)
class Piece:
    """One item: what the shop says about it, what it looks like, and what it is."""

    id: str
    kind: str
    title: str
    material: str
    height_cm: float
    width_cm: float
    weight_g: int
    glaze: str
    handle: bool
    odd: bool  # shaped as another kind often is, so that people disagree about it


@dataclass(frozen=True)
class _Form:
    """What pieces of a kind are like: means, shares, and words of their titles."""

    height: float
    width: float
    weight: float
    handle: float
    materials: tuple[float, float, float]  # stoneware, porcelain, glass
    words: tuple[str, ...]


MATERIALS = ("stoneware", "porcelain", "glass")
GLAZES = ("white", "blue", "green", "rust", "black", "sand")
_FORMS = {
    "bowl": _Form(7.0, 15.5, 480, 0.06, (0.55, 0.35, 0.10), ("for salad", "wide", "for soup")),
    "mug": _Form(9.5, 9.5, 330, 0.94, (0.50, 0.45, 0.05), ("for coffee", "with handle", "for tea")),
    "vase": _Form(19.0, 10.0, 620, 0.05, (0.35, 0.25, 0.40), ("for flowers", "tall", "slim")),
}
_ANYTHING = ("hand made", "second choice", "small chip", "set of one", "from a studio", "gift")
#: Share of odd pieces; how far sizes spread around their means, as a share of them.
ODD, SPREAD = 0.15, 0.16


def pieces(n_items: int, rng: np.random.Generator) -> list[Piece]:
    """Return items of all kinds, ids in the order of the list."""
    return [_piece(f"P{number:03d}", rng) for number in range(1, n_items + 1)]


def _piece(name: str, rng: np.random.Generator) -> Piece:
    kind = KINDS[rng.choice(3, p=(0.3, 0.4, 0.3))]
    form, odd = _FORMS[kind], bool(rng.random() < ODD)
    other = _FORMS[KINDS[(KINDS.index(kind) + 1) % 3]]
    lean = 0.5 if odd else 0.0  # half way to another kind
    height, width, weight = (
        ((1 - lean) * mine + lean * theirs) * float(np.exp(SPREAD * rng.standard_normal()))
        for mine, theirs in (
            (form.height, other.height),
            (form.width, other.width),
            (form.weight, other.weight),
        )
    )
    glaze = GLAZES[rng.integers(len(GLAZES))]
    material = MATERIALS[rng.choice(3, p=form.materials)]
    says = rng.choice(form.words if rng.random() < 0.6 else _ANYTHING)
    return Piece(
        id=name,
        kind=kind,
        title=f"{glaze} {material} piece, {says}, {rng.choice(_ANYTHING)}",
        material=material,
        height_cm=round(height, 1),
        width_cm=round(width, 1),
        weight_g=round(weight),
        glaze=glaze,
        handle=bool(rng.random() < form.handle),
        odd=odd,
    )


N_PEOPLE = 20
#: Those who do not answer as people do who look: who they are, and P("yes" | same, different).
OTHERS = {"p07": (0.5, 0.5), "p12": (0.97, 0.95), "p18": (0.12, 0.85)}
#: How often the others err on the clearest pairs, at least and at most, and what odd pieces add.
ERRORS, HARDER = (0.03, 0.16), 0.18
#: Share of answers that are "not sure", and of pairs that are shown to somebody else again.
UNSURE, AGAIN = 0.02, 0.3


def answers(
    items: Sequence[Piece], per_person: int, rng: np.random.Generator
) -> list[tuple[str, str, str, str]]:
    """Return (left, right, answer, annotator) in the order in which they were given."""
    errors = rng.uniform(*ERRORS, N_PEOPLE)
    shown: dict[tuple[int, int], set[int]] = {}  # to whom
    rows = []
    for turn in range(per_person * N_PEOPLE):
        who = turn % N_PEOPLE
        left, right = (int(one) for one in rng.choice(len(items), 2, replace=False))
        if rng.random() < AGAIN and (old := [one for one in shown if who not in shown[one]]):
            left, right = old[rng.integers(len(old))]
        shown.setdefault((left, right), set()).add(who)
        said = _answer(items[left], items[right], f"p{who + 1:02d}", float(errors[who]), rng)
        rows.append((items[left].id, items[right].id, said, f"p{who + 1:02d}"))
    return rows


def _answer(left: Piece, right: Piece, who: str, error: float, rng: np.random.Generator) -> str:
    same = left.kind == right.kind
    if who in OTHERS:
        says_yes = OTHERS[who][0 if same else 1]
    else:
        wrong = error + HARDER * (left.odd + right.odd)
        says_yes = 1 - wrong if same else wrong
    if rng.random() < UNSURE:
        return "not sure"
    return "yes" if rng.random() < says_yes else "no"


try:
    from PIL import Image, ImageDraw
except ImportError as error:
    raise MissingExtra("pillow", "app", "noisypairs sample") from error

#: Pixels of a side, and how much larger a picture is drawn before it is made smooth.
SIDE, TIMES = 96, 4
#: Pixels of the drawing for a centimetre.
SCALE = SIDE * TIMES / 30
_GLAZES = {
    "white": (236, 233, 226),
    "blue": (62, 98, 158),
    "green": (92, 130, 92),
    "rust": (170, 92, 56),
    "black": (58, 56, 60),
    "sand": (208, 182, 140),
}
_WALL, _TABLE, _SHADOW = (222, 226, 230), (190, 168, 142), (158, 138, 116)


def drawn(piece: Piece) -> bytes:
    """Return the picture of a piece as a PNG file."""
    size = SIDE * TIMES
    picture = Image.new("RGB", (size, size), _WALL)
    pen = ImageDraw.Draw(picture)
    floor = int(0.86 * size)
    pen.rectangle((0, int(0.74 * size), size, size), fill=_TABLE)
    colour = _GLAZES[piece.glaze]
    half, top = piece.width_cm * SCALE / 2, floor - piece.height_cm * SCALE
    middle = size / 2
    pen.ellipse((middle - half, floor - 18, middle + 1.3 * half, floor + 22), fill=_SHADOW)
    if piece.handle:
        ring = 0.45 * (floor - top)
        box = (middle + half - ring, top + 0.4 * ring, middle + half + ring, top + 1.9 * ring)
        pen.ellipse(box, outline=_shaded(colour, 0.85), width=int(0.3 * ring) + 4)
    level = np.linspace(0.0, 1.0, 40)  # 0 is the foot
    profile = half * _profile(piece, level)
    ys = floor - level * (floor - top)
    left = list(zip(middle - profile, ys, strict=True))
    right = list(zip(middle + profile, ys, strict=True))
    pen.polygon(left + right[::-1], fill=colour)
    light = [(middle - 0.55 * (middle - x), y) for x, y in left]
    pen.line(light[6:-6], fill=_shaded(colour, 1.18), width=10)
    rim = profile[-1]
    pen.ellipse((middle - rim, top - 12, middle + rim, top + 12), fill=_shaded(colour, 0.7))
    small = picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.quantize(48).save(file, "PNG", optimize=True)
    return file.getvalue()


def _profile(piece: Piece, level: Array) -> Array:
    """Return half the width at each level, as a share of the greatest."""
    straight = np.full_like(level, 0.94)
    bowl = 0.42 + 0.58 * np.sqrt(level)
    vase = 0.62 + 0.38 * np.sin(np.pi * (0.15 + 0.95 * level)) - 0.15 * level
    own: dict[str, Array] = {"mug": straight, "bowl": bowl, "vase": vase}
    kinds = sorted(own)
    if not piece.odd:
        return own[piece.kind]
    like = own[kinds[(kinds.index(piece.kind) + 1) % 3]]
    between: Array = (own[piece.kind] + like) / 2
    return between


def _shaded(colour: tuple[int, int, int], share: float) -> tuple[int, int, int]:
    red, green, blue = (min(255, int(share * one)) for one in colour)
    return red, green, blue


#: Items that were compared, items that are new, and answers of each person.
N_ITEMS, N_NEW, PER_PERSON = 90, 30, 45
#: Known classes of each kind.
N_KNOWN = 2
#: The files by name, and what each of them holds.
FILES = {
    "items.csv": f"{N_ITEMS} pieces of pottery",
    "pairs.csv": "answers of 20 people to: are these two the same kind of thing?",
    "new.csv": f"{N_NEW} pieces that nobody was asked about",
    "labels.csv": f"{N_KNOWN} pieces of each kind, named",
    "truth.csv": "what every piece is; for a look at the end, no command needs it",
}
#: The folder of the pictures; `picture` in the tables names a file in it.
PICTURES = "pictures"
_COLUMNS = ("id", "title", "material", "height_cm", "width_cm", "weight_g", "picture")


def sample_files(seed: int = 0) -> dict[str, str | bytes]:
    r"""Return every file of the sample by its name; the same seed gives the same tables.

    >>> files = sample_files()
    >>> files["items.csv"].splitlines()[0]
    'id,title,material,height_cm,width_cm,weight_g,picture'
    >>> files["pictures/P001.png"][:4]
    b'\x89PNG'
    """
    rng = np.random.default_rng(seed)
    everything = pieces(N_ITEMS + N_NEW, rng)
    old, new = everything[:N_ITEMS], everything[N_ITEMS:]
    known = [one for kind in KINDS for one in _of_kind(old, kind)[:N_KNOWN]]
    asked = answers(old, PER_PERSON, rng)
    tables = {
        "items.csv": delimited_text(_COLUMNS, map(_cells, old)),
        "pairs.csv": delimited_text(("left", "right", "same", "annotator"), asked),
        "new.csv": delimited_text(_COLUMNS, map(_cells, new)),
        "labels.csv": delimited_text(("id", "class"), [(one.id, one.kind) for one in known]),
        "truth.csv": delimited_text(("id", "kind"), [(one.id, one.kind) for one in everything]),
    }
    return tables | {_picture(one): drawn(one) for one in everything}


def _of_kind(items: Sequence[Piece], kind: str) -> list[Piece]:
    return [one for one in items if one.kind == kind and not one.odd]


def _picture(piece: Piece) -> str:
    return f"{PICTURES}/{piece.id}.png"


def _cells(piece: Piece) -> tuple[object, ...]:
    sizes = (piece.height_cm, piece.width_cm, piece.weight_g)
    return (piece.id, piece.title, piece.material, *sizes, _picture(piece))
