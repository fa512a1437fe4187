"""Files that are none, that do not end, or that unpack to too much: refused at once, and named."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from noisypairs.app.files import BadFile, contents, read_dataset, read_items
from noisypairs.app.files.contents import load

ITEMS = "id,size\na,1\nb,2\nc,3\n"
PAIRS = "left,right,answer\na,b,yes\nb,c,no\n"
RECORDS = [
    b'{"left": "a", "right": "b", "answer": "yes"}',
    b'{"left": "b", "right": "c", "answer": "no"}',
]


class Standard(io.TextIOWrapper):
    """A standard input that holds these bytes."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))


def test_pipes_and_devices_are_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)  # to open it would wait for ever
    for path, what in ((pipe, "a pipe"), (Path("/dev/zero"), "a device")):
        with pytest.raises(BadFile, match=f"^{path} is {what}, expected a file: .* < {path}"):
            load(path)
    (tmp_path / "parts").mkdir()
    os.mkfifo(tmp_path / "parts" / "0.parquet")
    with pytest.raises(BadFile, match="is a pipe"):
        read_items(tmp_path / "parts")


@pytest.mark.parametrize(
    "data",
    [
        PAIRS.encode(),
        gzip.compress(PAIRS.encode()),
        PAIRS.replace(",", "\t").encode(),
        b"\n".join(RECORDS),
        b"[" + b",".join(RECORDS) + b"]",
    ],
    ids=["csv", "gzip", "tabs", "json lines", "json"],
)
def test_standard_input_is_read_where_it_is_asked_for(tmp_path, monkeypatch, data):
    (tmp_path / "items.csv").write_text(ITEMS)
    monkeypatch.setattr("sys.stdin", Standard(data))
    found = read_dataset(tmp_path / "items.csv", "-", stream=True)
    assert found.pairs.same.tolist() == [True, False]
    assert found.sources[1]["path"] == "-"
    assert not any("despite its name" in note for note in found.notes)
    monkeypatch.setattr("sys.stdin", Standard(b""))
    with pytest.raises(BadFile, match="- is empty"):
        load("-")


def test_a_gzip_file_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "ANY_RATIO", 100_000)
    bomb, fair = tmp_path / "bomb.csv.gz", tmp_path / "fair.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b,1\n" * 200_000))  # 1.2 MB from 3 kB
    said = r"bomb\.csv\.gz has [\d,]+ bytes and unpacks to more than .* \(200 times its size"
    with pytest.raises(BadFile, match=said):
        load(bomb)
    fair.write_bytes(gzip.compress(b"a,b,1\n" * 16_000))  # as far beyond 200 times, but small
    assert len(load(fair).data) == 96_000
    np.savez_compressed(tmp_path / "bomb.npz", pairs=np.zeros((20_000, 2, 4)), y=np.ones(20_000))
    with pytest.raises(BadFile, match=r"bomb\.npz has .* as a trap would"):
        read_dataset(None, tmp_path / "bomb.npz")
    monkeypatch.setattr(contents, "MAX_UNPACKED", 50_000)
    with pytest.raises(BadFile, match="more than 50,000,"):
        load(fair)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["pairs.csv", "pairs.parquet"])
def test_a_file_without_permission_is_not_called_damaged(tmp_path, monkeypatch, name, stream):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    (tmp_path / name).write_text(PAIRS)
    monkeypatch.setattr(Path, "read_bytes", refused)  # root may read everything
    monkeypatch.setattr("pyarrow.parquet.read_metadata", refused)
    with pytest.raises(BadFile, match=f"{name} cannot be read: no permission. Ask its owner"):
        read_dataset(None, tmp_path / name, stream=stream)


def test_a_disk_that_fails_is_named(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(5, "Input/output error")

    (tmp_path / "items.csv").write_text(ITEMS)
    monkeypatch.setattr(Path, "read_bytes", fails)
    with pytest.raises(BadFile, match=r"items\.csv cannot be read: Input/output error$"):
        read_items(tmp_path / "items.csv")


def test_half_characters_are_named_by_line_in_every_encoding(tmp_path):
    path = tmp_path / "items.csv"
    path.write_bytes("id,size\né,1\na\ud800,2\n".encode("utf-8", "surrogatepass"))
    said = r"items\.csv, line 3: the byte sequence ed a0 80 is half of a character .* or none"
    with pytest.raises(BadFile, match=said):
        read_items(path)
    path.write_bytes("\ufeffid,size\né,1\na\ud800,2\n".encode("utf-16-le", "surrogatepass"))
    with pytest.raises(BadFile, match=r"items\.csv, line 3: damaged UTF-16 .* save it as UTF-8"):
        read_items(path)


@pytest.mark.parametrize("whole", ["", "pairs"])
def test_a_part_of_an_archive_that_is_no_array_is_named(tmp_path: Path, whole: str) -> None:
    """As `numpy` gives the bytes of whatever does not begin as its arrays do."""
    path, array = tmp_path / "a.npz", io.BytesIO()
    np.save(array, np.zeros((4, 2, 3)))
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("pairs", "y"):
            archive.writestr(f"{name}.npy", array.getvalue() if name == whole else b"hello")
    named = "y" if whole else "pairs"
    with pytest.raises(BadFile, match=f"a.npz: its part '{named}' is no array: save plain arrays"):
        read_dataset(path, path)
