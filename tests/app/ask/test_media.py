"""What a page shows of the items: the files of the first column that names any."""

from __future__ import annotations

import pandas as pd

from noisypairs.app.ask.media import Media
from noisypairs.app.files.media import with_media


def test_files_are_those_of_the_first_column_that_names_any(tmp_path):
    for name in ("a.wav", "b.mp3", "c.png"):
        (tmp_path / name).write_bytes(b"x")
    table = pd.DataFrame({"size": [1, 2, 3, 4], "file": ["a.wav", "b.mp3", "c.png", "none.png"]})
    located, _ = with_media(table, list("wxyz"), tmp_path / "items.csv", None)
    found = Media.of(located)
    assert found.column == "file"
    assert [found.kind(row) for row in range(4)] == ["audio", "audio", "image", None]
    assert Media.of(table) == Media()
