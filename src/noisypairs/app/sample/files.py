"""The sample as files: items, answers, new items, a few known classes, the truth, and pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noisypairs.app.files import delimited_text
from noisypairs.app.sample.people import answers
from noisypairs.app.sample.pottery import KINDS, Piece, pieces

#: Items that were compared, items that are new, and answers of each person.
N_ITEMS, N_NEW, PER_PERSON = 90, 30, 45
#: Known classes of each kind.
N_KNOWN = 2
#: The files by name, and what each of them holds.
FILES = {
    "items.csv": f"{N_ITEMS} pieces of an invented shop",
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
    from noisypairs.app.sample.drawing import drawn

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
