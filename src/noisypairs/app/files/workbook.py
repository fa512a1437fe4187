"""Sheets of workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods).

The first sheet that holds a table is read: names in its first row that holds anything, then rows.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pandas as pd

from noisypairs.app.files.contents import BadFile, Content, refuse_trap, some
from noisypairs.errors import MissingExtra

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def workbook_table(content: Content) -> tuple[pd.DataFrame, Callable[[int], str], tuple[str, ...]]:
    """Return the table of a workbook, the place of each row in it, and notes."""
    sheets = _sheets(content)
    full = {name: rows for name, rows in sheets.items() if len(_filled(rows)) > 1}
    if not full:
        raise BadFile(
            f"{content.path} holds no sheet with a table: expected names in the first row and rows "
            f"below it, found the sheets {some(list(sheets))}"
        )
    name, rows = next(iter(full.items()))
    kept = _filled(rows)
    width = max(k for row in kept for k, cell in enumerate(rows[row]) if _holds(cell)) + 1
    columns = [k for k in range(width) if any(_holds(_at(rows[row], k)) for row in kept)]
    cells = {k: [_at(rows[row], k) for row in kept] for k in columns}
    frame = pd.DataFrame({k: pd.Series(cells[k][1:], dtype=object) for k in columns})
    frame.columns = pd.Index(["" if (n := cells[k][0]) is None else str(n) for k in columns])
    notes = content.notes
    if len(full) > 1:
        others = [other for other in full if other != name]
        notes += (f"{content.path.name}: sheet {name!r} is read, {some(others)} are not",)
    return frame, lambda row: f"sheet {name!r}, row {kept[row + 1] + 1}", notes


def _sheets(content: Content) -> dict[str, list[list[Any]]]:
    try:
        from python_calamine import CalamineWorkbook
    except ModuleNotFoundError:
        raise MissingExtra("python-calamine", "app", "Reading workbooks") from None
    try:
        if content.is_archive:
            with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
                unpacked = sum(one.file_size for one in archive.infolist())
            refuse_trap(content.path, content.size, unpacked)
        book = CalamineWorkbook.from_filelike(io.BytesIO(content.data))
        return {
            name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            for name in book.sheet_names
        }
    except BadFile:
        raise
    except Exception as error:  # a workbook may be damaged in any way
        raise BadFile(
            f"{content.path} cannot be read as a workbook, it is damaged or protected "
            f"({error}): save it again, or export the sheet as CSV"
        ) from error


def _holds(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _at(row: list[Any], k: int) -> Any:
    """Return a cell as other files have it: None where it is empty."""
    cell = row[k] if k < len(row) else None
    return cell if _holds(cell) else None


def _filled(rows: list[list[Any]]) -> list[int]:
    return [k for k, row in enumerate(rows) if any(map(_holds, row))]
