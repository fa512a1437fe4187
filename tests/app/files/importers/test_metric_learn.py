"""metric-learn's tuples of shape (n, 2, d)."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from noisypairs.app.files import BadFile, read_dataset, read_pairs

TUPLES = np.array([[[0.0, 1.0], [2.0, 3.0]], [[2.0, 3.0], [4.0, np.inf]], [[0.0, 1.0], [0.0, 5.0]]])


@pytest.mark.parametrize("name", ["t.npz", "pairs.npy"])
def test_metric_learn_tuples(tmp_path, name):
    path = tmp_path / name
    if name == "t.npz":
        np.savez(path, pairs=TUPLES, y=np.array([1, -1, -1]))
    else:
        np.save(path, TUPLES)
        np.save(tmp_path / "y.npy", np.array([1, -1, -1]))
    for items in (None, path):
        data = read_dataset(items, path)
        assert data.format == "metric-learn"
        rows = data.features.to_numpy()
        found = [
            (rows[a].tolist(), rows[b].tolist(), bool(s))
            for a, b, s in zip(data.pairs.left, data.pairs.right, data.pairs.same, strict=True)
        ]
        assert found[0] == ([0.0, 1.0], [2.0, 3.0], True)
        assert found[2] == ([0.0, 1.0], [0.0, 5.0], False)
        assert np.isnan(found[1][1][1])  # infinite numbers are missing ones
        assert len(rows) == 4
        assert data.mapping == {"1": "same", "-1": "different"}


@pytest.mark.parametrize("with_items", [True, False])
def test_row_numbers_of_items_beside_them_or_of_a_file(tmp_path, with_items):
    X = np.array([[0.0, 1.0], [2.0, np.inf], [4.0, 5.0]])
    pairs, y = np.array([[0, 1], [1, 2]]), np.array([1, -1])
    np.savez(tmp_path / "t.npz", pairs=pairs, y=y, **({"X": X} if with_items else {}))
    (tmp_path / "items.csv").write_text("u,v\n0,1\n2,\n4,5\n")
    data = read_dataset(None if with_items else tmp_path / "items.csv", tmp_path / "t.npz")
    assert data.format == "metric-learn"
    assert data.pairs.left.tolist() == [0, 1]
    assert data.pairs.right.tolist() == [1, 2]
    assert data.pairs.same.tolist() == [True, False]
    np.testing.assert_array_equal(data.features, np.where(np.isinf(X), np.nan, X))


def test_metric_learn_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, pairs=TUPLES[:, :, 0], y=[1, -1, 1])
    with pytest.raises(BadFile, match=r"shape \(3, 2\) of float64, expected numbers of shape"):
        read_pairs(path)
    np.savez(path, pairs=TUPLES)
    with pytest.raises(BadFile, match=r"expected one called 'y'"):
        read_pairs(path)
    np.savez(path, pairs=TUPLES, y=[1, -1])
    with pytest.raises(BadFile, match="3 tuples, but y has shape"):
        read_pairs(path)
    np.savez(path, pairs=TUPLES, y=[1, -1, 5])
    with pytest.raises(BadFile, match=r"'y' has unrecognised answers: '5' on tuple 3"):
        read_pairs(path)
    np.savez(path, pairs=np.array([[{}, {}]]), y=[1])  # pickled objects could run code
    with pytest.raises(BadFile, match="cannot be read as numpy arrays"):
        read_pairs(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadFile, match="cannot be read as numpy arrays"):
        read_pairs(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("pairs.npy", bytes(500))
    content = bytearray(path.read_bytes())
    content[content.index(b"pairs.npy") + 13] = 0xFF  # no such properties of LZMA
    path.write_bytes(content)
    with pytest.raises(BadFile, match="cannot be read as numpy arrays"):
        read_pairs(path)
    np.save(tmp_path / "alone.npy", TUPLES)
    with pytest.raises(BadFile, match=r"put them beside it as alone_y.npy"):
        read_pairs(tmp_path / "alone.npy")
