"""Arrays from .npy and .npz files, without ever running code from them."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.app.files.contents import BadFile, Content, refuse_trap

ENDINGS = (".npy", ".npz")


def load_arrays(content: Content, advice: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a .npz by name, that of a .npy under ""; ``advice`` says how to save."""
    try:
        if content.is_archive:
            with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
                unpacked = sum(one.file_size for one in archive.infolist())
            refuse_trap(content.path, content.size, unpacked)
        loaded = np.load(io.BytesIO(content.data), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        return {name: loaded[name] for name in loaded.files}
    except BadFile:
        raise
    except Exception as error:  # an archive may be damaged in any way
        raise BadFile(
            f"{content.path} is no file of numpy arrays, or damaged ({error}): {advice}"
        ) from error
