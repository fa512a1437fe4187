"""Good files become bad ones: bytes, cells, JSON values and members of archives are changed.

Every function takes the content of a file and a source of randomness, and returns other content.
The same source gives the same content.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from noisypairs.app.model_archive import DIGESTS

Mutator = Callable[[bytes, Random], bytes]

WORDS = (
    "",
    " ",
    "007",
    "7",
    "7.0",
    "1e999",
    "-1e308",
    "1e110",
    "nan",
    "inf",
    "None",
    "unsure",
    "maybe",
)
CODES = ("1", "0", "-1", "2", "0.5", "yes", "NO", "same", "left", "must-link", "1_0", "=1+1")
ODD = ("é", "中", "१२", "\x00", '"', '""', "'", "a,b", "a;b", "\t", "\n", "\r", "\ufeff")
HOSTILE = (
    "\ud800",
    "\x1b[2J\x1b]0;x\x07",
    "<script>",
    "../../etc/x",
    "\u202e",
    "x" * 300,
    "9" * 400,
)
CELLS = (*WORDS, *CODES, *ODD, *HOSTILE)
MARKS = (b'"', b",", b"\n", b"\r", b"\r\n", b";", b"\t", b" ", b"-", b"{", b"[[[", b"1e400", b"")
MAGIC = (b"\x00", b"\xff", b"\x81", b"\xe9", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"PAR1")
PIECES = (*MARKS, *MAGIC, b"PK\x03\x04", b"\x80\x00\x00\x00", b"\xff\xff\xff\x7f")
KEYS = ("match", "distinct", "data", "annotations", "result", "value", "choices", "type", "id")
KEYS += ("left", "right", "same", "__class__", "__value__", "completed_by")
#: How deep a value may be nested that a file is given.
DEEPEST = 100_000


def mutilated(data: bytes, rng: Random) -> bytes:
    """Insert, replace, remove, double or cut off bytes."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        to = min(at + rng.randint(0, 12), len(data))
        piece = rng.choice(PIECES)
        what = rng.choice(("insert", "replace", "remove", "double", "flip", "cut", "repeat"))
        data = {
            "insert": data[:at] + piece + data[at:],
            "replace": data[:at] + piece + data[to:],
            "remove": data[:at] + data[to:],
            "double": data[:to] + data[at:to] + data[to:],
            "flip": data[:at] + bytes(one ^ 1 << to % 8 for one in data[at:to]) + data[to:],
            "cut": data[:at],
            "repeat": data + data[at:],
        }[what]
    return data


def recoded(data: bytes, rng: Random) -> bytes:
    """Write a text in another encoding, then mutilate it."""
    text = data.decode("utf-8", "replace")
    return mutilated(text.encode(rng.choice(("utf-16", "cp1252")), "replace"), rng)


def broken_table(data: bytes, rng: Random) -> bytes:
    """Change cells, rows and columns of a table; write it with another mark, without quotes."""
    text = data.decode("utf-8", "replace")
    mark = "\t" if "\t" in text else ","
    rows = [line.split(mark) for line in text.replace(", ", " ").replace('"', "").splitlines()]
    match rng.choice(("rows",) * 8 + ("both", "few")):
        case "both":
            rows[1:] = [*rows[1:], *(_contradicted(row) for row in rows[1:])]
        case "few":
            rows = rows[: rng.randint(2, 5)]
        case _:
            for _ in range(rng.randint(1, 5)):
                _break_rows(rows, rng)
    mark, end = rng.choice((mark, mark, ",", ";", "\t")), rng.choice(("\n", "\r\n"))
    return end.join(mark.join(row) for row in rows).encode("utf-8", "surrogatepass")


def _contradicted(row: list[str]) -> list[str]:
    """Return a row with the other answer: what somebody says who answers every pair both ways."""
    other = {"yes": "no", "no": "yes", "same": "different", "different": "same", "1": "0", "0": "1"}
    return [other.get(cell, cell) for cell in row]


def _break_rows(rows: list[list[str]], rng: Random) -> None:
    if not rows:
        return
    row = rng.randrange(len(rows))
    column = rng.randint(0, max(len(rows[row]) - 1, 0))
    match rng.choice(("cell", "cell", "cell", "whole", "drop", "extra", "twice", "header", "wide")):
        case "cell" if rows[row]:
            rows[row][column] = rng.choice(CELLS)
        case "whole":
            word = rng.choice(CELLS)
            rows[1:] = [[*r[:column], word, *r[column + 1 :]] for r in rows[1:]]
        case "drop":
            rows[row] = rows[row][:-1]
        case "extra":
            rows[row] = [*rows[row], rng.choice(CELLS)]
        case "twice":
            rows.append(list(rows[row]))
        case "wide":
            many = rng.choice((20, 300))
            rows[0] = [*rows[0], *(f"x{k}" for k in range(many))]
            rows[1:] = [[*r, *[rng.choice(("0", "1", "a"))] * many] for r in rows[1:]]
        case _:
            name = rng.choice(("id", "left", "x", "", "same", "answer", "y"))
            rows[0] = [name, *rows[0][1:]]


def odd_value(rng: Random, depth: int = 3) -> Any:
    """Return a JSON value that nobody expects."""
    plain: tuple[Any, ...] = (None, True, -1, 0, 3, 0.5, 1e308, 10**400, -(2**63))
    plain += (float("nan"), float("inf"), rng.choice(CELLS), rng.choice(KEYS))
    match rng.choice(("plain", "plain", "list", "object")) if depth else "plain":
        case "list":
            return [odd_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
        case "object":
            return {rng.choice(KEYS): odd_value(rng, depth - 1) for _ in range(rng.randint(0, 3))}
        case _:
            return rng.choice(plain)


def broken_json(data: bytes, rng: Random) -> bytes:
    """Change values inside a JSON document, or the bytes of what is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return mutilated(data, rng)
    if rng.random() < 0.02:
        return b"[" * DEEPEST + b"]" * DEEPEST
    for _ in range(rng.randint(1, 3)):
        value = _broken_value(value, rng)
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _broken_value(value: Any, rng: Random) -> Any:
    """Walk down to a random place and put something else there, or take it away."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return odd_value(rng)
    value = value.copy()
    place = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    match rng.choice(("down", "down", "down", "drop", "add")):
        case "down":
            value[place] = _broken_value(value[place], rng)
        case "drop":
            del value[place]
        case _ if isinstance(value, dict):
            value[rng.choice((*KEYS, *CELLS))] = odd_value(rng)
        case _:
            value.insert(place, odd_value(rng))
    return value


def broken_lines(data: bytes, rng: Random) -> bytes:
    """Change, tear, drop, double and swap lines of a file of JSON lines."""
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(lines))
        match rng.choice(("json", "json", "tear", "drop", "twice", "join", "swap")):
            case "json":
                lines[at] = broken_json(lines[at], rng)
            case "tear":
                lines[at] = lines[at][: rng.randint(0, len(lines[at]))]
            case "drop" if len(lines) > 1:
                del lines[at]
            case "join" if at + 1 < len(lines):
                lines[at : at + 2] = [lines[at] + lines[at + 1]]
            case "swap":
                lines[at], lines[0] = lines[0], lines[at]
            case _:
                lines.insert(at, lines[at])
    return b"\n".join(lines)


def broken_gzip(data: bytes, rng: Random) -> bytes:
    """Break the table inside, and compress it again."""
    return gzip.compress(broken_table(gzip.decompress(data), rng), mtime=0)


def broken_parquet(data: bytes, rng: Random) -> bytes:
    """Give columns of a Parquet file other types, names, lengths or compression."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(data))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(table.num_columns)
        match rng.choice(("type", "type", "drop", "cut", "rows")):
            case "type":
                name = rng.choice(
                    (table.column_names[at], table.column_names[at], "left", "", "id")
                )
                table = table.set_column(at, name, _odd_column(table.num_rows, rng))
            case "drop" if table.num_columns > 1:
                table = table.remove_column(at)
            case "cut":
                table = table.slice(0, rng.choice((0, 1, 5)))
            case _:
                table = pa.concat_tables([table, table])
    written = io.BytesIO()
    parquet.write_table(table, written, compression=rng.choice(("snappy", "gzip", "zstd", "none")))
    return written.getvalue()


def _odd_column(n: int, rng: Random) -> Any:
    """Return a column of n values of a type that nobody expects."""
    import pyarrow as pa

    values, type_ = rng.choice(
        (
            ((None,), pa.null()),
            ((True, None), pa.bool_()),
            ((b"\xff\x00", b"a", None), pa.binary()),
            (([1, 2], [], None), pa.list_(pa.int64())),
            (({"a": 0}, {"a": 1}), pa.struct([("a", pa.int8())])),
            ((0, 2**62), pa.timestamp("ns")),
            ((0, 1), pa.int8()),
            ((0, 2**63), pa.uint64()),
            ((0.0, 1e308, float("inf")), pa.float64()),
            (("001", "yes", "no", None), pa.dictionary(pa.int32(), pa.string())),
        )
    )
    return pa.array([rng.choice(values) for _ in range(n)], type_)


def broken_archive(data: bytes, rng: Random) -> bytes:
    """Change, drop, double or rename members of a zip file, or compress them in another way."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        members = [(name, old.read(name)) for name in old.namelist()]
    documents = [k for k, (name, _) in enumerate(members) if name.endswith(".json")]
    for _ in range(rng.randint(0, 2)):
        at = rng.choice(documents) if documents and rng.random() < 0.8 else -1
        at = at if at >= 0 else rng.randrange(len(members))
        name, content = members[at]
        match rng.choice(("break", "break", "break", "foreign", "drop", "rename", "twice")):
            case "foreign":  # what the archive may hold, and no reader of its kind can use
                members[at] = name, rng.choice((b"", b"hello", b"\x93NUMPY\x01\x00", b"{}"))
            case "break":
                members[at] = name, (broken_json if at in documents else mutilated)(content, rng)
            case "rename":
                members[at] = rng.choice(("../x", "", name.upper(), "/etc/x", "é")), content
            case "drop" if len(members) > 1 and not documents:
                del members[at]
            case _:
                members[at] = members[rng.randrange(len(members))]
    parts = dict(members)
    if DIGESTS in parts and rng.random() < 0.5:  # somebody who damages may also cover it up
        lines = (
            f"{hashlib.sha256(content).hexdigest()}  {name}\n"
            for name, content in parts.items()
            if name != DIGESTS
        )
        parts[DIGESTS] = "".join(sorted(lines)).encode()
        return _zipped(parts, rng)
    return _damaged_zip(_zipped(parts, rng), rng)


def _zipped(members: Mapping[str, bytes], rng: Random) -> bytes:
    ways = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    way, written = rng.choice(ways), io.BytesIO()
    with zipfile.ZipFile(written, "w") as new:
        for name, content in members.items():
            new.writestr(zipfile.ZipInfo(name), content, way)  # without a date: always the same
    return written.getvalue()


def _damaged_zip(data: bytes, rng: Random) -> bytes:
    """Overwrite compressed bytes, or a field of one entry in the list of members."""
    changed = bytearray(data)
    directory = data.find(b"PK\x01\x02")
    match rng.choice(("none", "content", "field", "both")):
        case "content" | "both":
            at = rng.randrange(max(directory, 1))
            changed[at : at + 3] = rng.choice((b"\xff\xff\xff", b"\x00\x00\x00", b"abc"))
        case "field":  # versions, flags, method, sum, sizes, lengths of names
            entries = data.count(b"PK\x01\x02")
            for _ in range(rng.randrange(entries) if entries else 0):
                directory = data.find(b"PK\x01\x02", directory + 4)
            changed[directory + rng.randint(4, 45)] = rng.choice((0, 1, 9, 99, 255))
    return bytes(changed)


#: By the end of a file's name: what may be done to it. The same twice is twice as likely.
BY_ENDING: Mapping[str, tuple[Mutator, ...]] = {
    ".csv": (mutilated, recoded, broken_table, broken_table, broken_table),
    ".tsv": (mutilated, recoded, broken_table, broken_table, broken_table),
    ".json": (mutilated, broken_json, broken_json, broken_json),
    ".jsonl": (mutilated, broken_lines, broken_lines),
    ".gz": (mutilated, broken_gzip, broken_gzip),
    ".parquet": (mutilated, broken_parquet, broken_parquet),
    ".db": (mutilated,),
    ".npz": (mutilated, broken_archive),
    ".xlsx": (mutilated, broken_archive, broken_archive),
    ".skops": (mutilated, broken_archive, broken_archive, broken_archive),
}
