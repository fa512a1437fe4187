from __future__ import annotations

import pytest

from noisypairs import model_file
from noisypairs.app.model_archive import BadModelFile


def test_what_is_no_model_is_refused(tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(b"no zip file")
    for read in (model_file.load, model_file.inspect):
        with pytest.raises(BadModelFile, match=r"model\.skops"):
            read(path)
