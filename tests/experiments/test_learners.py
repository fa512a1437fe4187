"""How each column learns, and what it is given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from noisypairs import LabelingNoise, PairingNoise, Pairs, algebra, model_selection
from noisypairs.experiments import COLUMNS, Spec, learners
from noisypairs.experiments.learners import Learners, best_prior
from noisypairs.experiments.problem import make_problem
from noisypairs.experiments.records import Record
from noisypairs.experiments.run import records_of
from noisypairs.model_selection import HeldOutShare
from tests.experiments.made_up_records import CANCER


@pytest.mark.parametrize("prior", [0.8, 0.1])  # the larger root is right, then the smaller one
def test_the_prior_is_the_root_under_which_the_answers_are_likeliest(prior: float) -> None:
    """With the true m(x) of labelled items the true root must win over its rival."""
    noise = LabelingNoise(0.1, 0.2)
    S = noise.same_probability()
    rate = algebra.same_rate(S, prior)
    assert len(algebra.prior_roots(S, rate)) == 2
    y = (np.random.default_rng(0).random(4000) < prior).astype(int)
    left, right = np.random.default_rng(1).permutation(4000).reshape(2, -1)
    pairs = Pairs(left, right, noise.corrupt(y, left, right, random_state=1))
    m = algebra.same_given_class(S, prior)[y]
    assert best_prior(HeldOutShare(pairs, rate, m - rate, 1.0), noise) == pytest.approx(prior)


def test_tuning_is_shared_and_known_rates_are_used() -> None:
    spec = replace(CANCER, density=20.0, method="t-loss")
    learners = Learners(spec, make_problem(spec))
    assert learners.tuned is learners.tuned
    assert isinstance(learners.tuned.noise, PairingNoise)
    told = Learners(replace(spec, told=True), make_problem(spec)).tuned
    assert told.noise == PairingNoise(0.1, 0.2)
    assert told.prior == make_problem(spec).y.mean()
    assert told.alpha == pytest.approx(0.55)  # (1 − ρ_S + ρ_D)/2


def test_weight_under_labeling_noise_comes_from_the_tuned_rates() -> None:
    spec = Spec("cancer", "labeling", (0.1, 0.2), "weighted", 20.0, 0, "kernel")
    tuned = Learners(spec, make_problem(spec)).tuned
    assert tuned.alpha == algebra.alpha(tuned.noise.same_probability(), tuned.prior)


@pytest.mark.parametrize("method", COLUMNS)
def test_every_method_makes_a_record(method: str) -> None:
    # Equal rates, told: the printed loss is convex then, which tuned rates do not grant.
    spec = replace(CANCER, method=method, density=20.0, rates=(0.2, 0.2), told=True)
    (found,) = records_of((spec,))
    assert found.refused is None
    assert 0.8 < found.accuracy <= 1.0
    assert found.names == "matched"
    assert Record.from_line(found.line()) == found


@pytest.mark.parametrize("method", ["pn", "t-loss-printed", "weighted"])
def test_the_network_learns_the_tumours(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the network needs the torch extra")
    for name in ("FEWEST_STEPS", "MOST_STEPS"):
        monkeypatch.setattr(learners, name, 700)
    spec = Spec("cancer", "pairing", (0.1, 0.1), method, 20.0, 0, told=True)
    (found,) = records_of((spec,))
    assert found.refused is None
    assert found.accuracy > 0.85


def test_a_refusal_is_a_record_with_its_reason_and_the_larger_class() -> None:
    spec = Spec("cancer", "pairing", (0.45, 0.45), "t-loss", 0.5, 0, "kernel")
    (found,) = records_of((spec,))
    assert found.refused is not None
    assert "cannot be tuned" in found.refused
    assert found.accuracy == pytest.approx(90 / 143)


def test_sd_loss_takes_the_share_of_same_for_clean_or_refuses() -> None:
    spec = replace(CANCER, method="sd-loss", density=20.0)
    problem = make_problem(spec)
    (found,) = records_of((spec,))
    pi = found.details["prior"]
    assert pi**2 + (1 - pi) ** 2 == pytest.approx(problem.pairs.same.mean())
    (found,) = records_of((replace(spec, rates=(0.4, 0.1)),))
    assert found.refused is not None
    assert "half or more" in found.refused


def test_flat_priors_reach_the_tuning() -> None:
    """Few pairs: where the answers say little, the weak priors decide, and flat ones do not."""
    spec = Spec("cancer", "pairing", (0.3, 0.3), "weighted", 2.0, 0, "kernel")
    weak, flat = (
        Learners(replace(spec, flat_priors=flat), make_problem(spec)).tuned
        for flat in (False, True)
    )
    assert abs(flat.alpha - 0.5) > abs(weak.alpha - 0.5)
    assert weak.noise != flat.noise


def test_the_seed_of_the_spec_decides_the_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []

    def watched(*given: object, **options: object) -> HeldOutShare:
        seeds.append(options["random_state"])
        return out_of_fold_share(*given, **options)

    out_of_fold_share = model_selection.out_of_fold_share
    monkeypatch.setattr(model_selection, "out_of_fold_share", watched)
    spec = replace(CANCER, density=20.0, method="t-loss", seed=3)
    assert Learners(spec, make_problem(spec)).tuned.alpha > 0
    assert seeds == [3]
