"""The items of the sample: mugs, bowls and vases of an invented shop, described as shops do.

A kind decides sizes, weight, material and words, all with overlap: a large mug is as wide as a
small bowl, and a title need not name what is sold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
