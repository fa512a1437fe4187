"""The zip archive of a model file: its parts, read whole or refused, and what ties them together.

Beside the parts that skops wrote stand three of ours, which skops does not look at: `FACTS` (what
the model is, as JSON), `CARD` (the same to read) and `DIGESTS`, the sha256 of every other part in
the form of the program sha256sum. A part that is no longer as it was written does not match its
line there.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

FACTS, CARD, DIGESTS = "noisypairs.json", "README.md", "noisypairs.sha256"
#: A file that would unpack to more than this, or has more members, is refused: it may be a trap.
MOST_BYTES, MOST_MEMBERS, MOST_FACTS = 2**29, 20_000, 8 * 2**20


class BadModelFile(ValueError):
    """A file is not a model of ours, is damaged, or holds what is not trusted."""


@dataclass(frozen=True)
class ModelArchive:
    """The bytes of a model file, and those of its facts.

    ``changed`` names the parts that are not as they were written; None where the file does not say
    how they were.
    """

    path: Path
    content: bytes
    facts: bytes
    changed: frozenset[str] | None

    @property
    def edited(self) -> bool | None:
        """Whether facts or card were edited; None where that cannot be told."""
        return None if self.changed is None else bool(self.changed)


def read_archive(path: PathLike[str] | str) -> ModelArchive:
    """Return the archive in a file, if all its parts can be read and the model is as written."""
    path = Path(path)
    content = _content(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _require_modest(archive.infolist(), path)
            digests = _digests(archive)
            facts = archive.read(FACTS) if FACTS in digests else None
            written = archive.read(DIGESTS).decode() if DIGESTS in digests else None
    except BadModelFile:
        raise
    except Exception as error:  # a damaged archive may fail in any way, and must fail in ours
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise BadModelFile(
                f"{path} is damaged, no model file, or was cut short: expected what "
                "`noisypairs fit -o` writes"
            ) from error
        raise damaged(path, error) from error
    if facts is None:
        raise BadModelFile(
            f"{path} is an archive without {FACTS}: damaged, or not a model that `noisypairs fit` "
            "wrote"
        )
    changed = None if written is None else _changed(digests, written)
    if changed is not None and changed - {FACTS, CARD}:
        names = ", ".join(sorted(changed - {FACTS, CARD})[:3])
        raise BadModelFile(
            f"{path} is damaged: {names} is not as it was written. Get the file again, or fit the "
            "model again from its data"
        )
    return ModelArchive(path, content, facts, changed)


def damaged(path: Path, error: Exception) -> BadModelFile:
    """Return the error to raise where another shows that a model file is damaged."""
    reason = f"{type(error).__name__}: {error}"[:200]
    return BadModelFile(
        f"{path} is damaged ({reason}): get the file again, or fit the model again from its data"
    )


def with_parts(content: bytes, facts: str, card: str) -> bytes:
    """Return what skops wrote with our own parts beside it."""
    whole = io.BytesIO(content)
    with zipfile.ZipFile(whole, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, facts)
        archive.writestr(CARD, card)
        size = sum(one.file_size for one in archive.infolist())
        if size > MOST_BYTES:
            raise ValueError(
                f"the model takes {size / 2**20:,.0f} MiB, and a model file holds at most "
                f"{MOST_BYTES / 2**20:g}: choose a smaller --estimator, such as logistic"
            )
        archive.writestr(DIGESTS, "".join(sorted(_lines(_digests(archive)))))
    return whole.getvalue()


def _content(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would never end
            raise BadModelFile(f"cannot read {path}: it is no file, as `noisypairs fit` writes")
        if path.stat().st_size > MOST_BYTES:
            raise BadModelFile(f"{path} has more than {MOST_BYTES / 2**20:g} MiB: not loaded")
        return path.read_bytes()
    except OSError as error:
        raise BadModelFile(f"cannot read {path}: {error.strerror}") from error


def _require_modest(parts: list[zipfile.ZipInfo], path: Path) -> None:
    """Refuse an archive before it is unpacked, by the sizes that it claims to have."""
    size = sum(one.file_size for one in parts)
    if len(parts) > MOST_MEMBERS or size > MOST_BYTES:
        raise BadModelFile(
            f"{path} would unpack to {size:,} bytes in {len(parts):,} parts, more than any model "
            "of ours: damaged, or made to fill the memory, and not loaded"
        )
    if any(one.filename == FACTS and one.file_size > MOST_FACTS for one in parts):
        raise BadModelFile(f"{path} is damaged: its {FACTS} is too large to be ours")


def _digests(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return part -> sha256; reading a part checks it against its CRC."""
    found = {}
    for name in archive.namelist():
        if not name:
            raise zipfile.BadZipFile("a part has no name")
        if name in found:
            raise zipfile.BadZipFile(f"two parts are called {name!r}")
        found[name] = hashlib.sha256(archive.read(name)).hexdigest()
    return found


def _lines(digests: Mapping[str, str]) -> set[str]:
    return {f"{digest}  {name}\n" for name, digest in digests.items() if name != DIGESTS}


def _changed(digests: Mapping[str, str], written: str) -> frozenset[str]:
    """Return the parts that were edited, added or removed since the digests were written."""
    differing = _lines(digests) ^ set(written.splitlines(keepends=True))
    return frozenset(line.strip().partition("  ")[2] for line in differing)
