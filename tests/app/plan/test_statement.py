"""The pairs to ask next as the text of a file."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.app.plan.statement import pairs_csv
from noisypairs.assess import NextPairs


@pytest.mark.parametrize(("raw", "left"), [(False, "'=1+1"), (True, "=1+1")])
def test_ids_are_no_formulas_unless_asked_for(raw, left):
    chosen = NextPairs(np.array([0]), np.array([1]), np.array([True]), np.array([0.25]))
    text = pairs_csv(chosen, ["=1+1", "-5"], raw)
    assert text == f"left,right,chosen,expected_bits\n{left},-5,yes,0.25\n"
