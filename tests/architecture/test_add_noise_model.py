"""The recipe "Add a noise model", followed to the letter."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from noisypairs import JointPairClassifier, MatrixNoise, cli, datasets, sample_pairs
from noisypairs.app import model_file
from noisypairs.noise import families

from ..enumeration import table

HEADING, MODULE = "Add a noise model", "tired_noise"
TIRED = 0.5


@pytest.fixture(scope="module")
def problem(recipe):
    X, y = datasets.load("gaussians", n_samples=300, prior=0.3, random_state=0)
    return X, y, sample_pairs(y, 3000, recipe.TiredNoise(TIRED), random_state=0)


def outcomes(K, tired):
    """Yield (y, y', answer, probability): a look at the pair, or one side of a coin."""
    for y, z in product(range(K), repeat=2):
        yield y, z, y == z, 1 - tired
        yield y, z, True, tired / 2
        yield y, z, False, tired / 2


@pytest.mark.parametrize("K", [2, 3])
def test_s_is_that_of_an_enumeration(recipe, K):
    S = recipe.TiredNoise(0.3).same_probability(K)
    np.testing.assert_allclose(S, table(outcomes(K, 0.3), K)[0], rtol=0, atol=1e-12)


def test_fit_finds_the_rate_behind_exact_counts(recipe):
    S = recipe.TiredNoise(TIRED).same_probability(3)
    assert recipe.TiredNoise.fit(1e6 * S, 1e6 * (1 - S)).tired == pytest.approx(TIRED, abs=1e-4)


def test_learners_find_it_by_name_and_auto_does_not_try_it(recipe):
    assert families()["tired"] is recipe.TiredNoise
    assert "tired" not in families(auto=True)


def test_the_joint_learner_estimates_it(recipe, problem):
    X, y, pairs = problem
    model = JointPairClassifier(n_classes=2, noise="tired", class_order="falling", random_state=0)
    model.fit(X, pairs)
    assert isinstance(model.noise_, recipe.TiredNoise)
    # A quarter of the answers are wrong: a standard error of .008, and twice that for the rate.
    assert model.noise_.tired == pytest.approx(TIRED, abs=0.05)
    assert model.score(X, y) > 0.98


def test_renumbering_the_classes(recipe):
    noise = recipe.TiredNoise(TIRED)
    assert noise.permuted([1, 2, 0]) is noise
    uneven = MatrixNoise([[0.9, 0.2], [0.2, 0.7]]).permuted([1, 0])
    assert uneven == MatrixNoise([[0.7, 0.2], [0.2, 0.9]])


def test_saving_is_refused_by_name(problem, tmp_path):
    X, _, pairs = problem
    learner = JointPairClassifier(n_classes=2, noise="tired", class_order="falling", random_state=0)
    model = make_pipeline(StandardScaler(), learner).fit(X, pairs)
    with pytest.raises(TypeError, match=r"cannot hold tired_noise\.TiredNoise"):
        model_file.save(tmp_path / "model.skops", model, {})
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_knows_it(problem, tmp_path):
    X, _, pairs = problem
    items, answers = tmp_path / "items.csv", tmp_path / "pairs.csv"
    items.write_text("id,a,b\n" + "".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(X)))
    rows = zip(pairs.left, pairs.right, pairs.same.astype(int), strict=True)
    answers.write_text("left,right,same\n" + "".join(f"{i},{j},{s}\n" for i, j, s in rows))
    model = tmp_path / "model.skops"
    asked = ["fit", str(items), str(answers), "-o", str(model), "--method", "joint", "--quiet"]
    known = CliRunner().invoke(cli.application(), [*asked, "--noise-model", "tired"])
    assert "cannot hold tired_noise.TiredNoise" in known.output.replace("\n", " ")
    unknown = CliRunner().invoke(cli.application(), [*asked, "--noise-model", "tried"])
    assert "did you mean 'tired'" in unknown.output.replace("\n", " ")
    assert known.exit_code == 1
    assert unknown.exit_code == 2
    assert not model.exists()
