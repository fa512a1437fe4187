"""One fit from files to a result: what it says agrees with the truth and with hand computation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from noisypairs import (
    LabelingNoise,
    MatrixNoise,
    NotIdentifiable,
    PairingNoise,
    Pairs,
)
from noisypairs.app.fit.fitting import Fitted, fit_dataset, step_shares
from noisypairs.app.fit.request import Request
from noisypairs.app.fit.summary import mean_rates
from tests.app.fit.fit_problems import NOISE, Files, write_files

QUICK = Request(estimator="logistic")
JOINT = Request(method="joint", estimator="logistic")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def steps() -> list[str]:
    return []


@pytest.fixture(scope="module")
def fitted(files: Files, steps: list[str]) -> Fitted:
    return fit_dataset(files.read(labels=True), QUICK, steps.append)


def test_it_learns_the_classes_by_the_names_of_the_labels(fitted: Fitted, files: Files) -> None:
    features = files.read().features
    names = np.where(files.y == 1, "yew", "ash")
    assert np.mean(fitted.model.predict(features) == names) > 0.95
    found = {one.name: one for one in fitted.result.model.classes}
    assert list(found) == ["ash", "yew"]
    assert found["yew"].share == pytest.approx(files.y.mean(), abs=0.05)
    assert sum(one.n_items for one in found.values()) == len(files.y)
    assert fitted.result.model.names_known
    assert fitted.result.data.n_labels == 4


def test_noise_prior_and_accuracy_are_near_the_truth(fitted: Fitted, files: Files) -> None:
    result = fitted.result
    assert result.model.noise.similar_flip.estimate == pytest.approx(NOISE.similar_flip, abs=0.05)
    assert result.model.noise.dissimilar_flip.estimate == pytest.approx(
        NOISE.dissimilar_flip, abs=0.05
    )
    assert result.model.noise.has_interval
    assert files.y.mean() in result.model.prior
    assert result.model.accuracy.low <= result.model.accuracy.estimate <= result.model.accuracy.high
    assert result.model.accuracy.estimate > 0.9
    assert result.model.majority_share == pytest.approx(0.75, abs=0.05)


def test_the_account_of_the_data_is_complete(fitted: Fitted, files: Files) -> None:
    result = fitted.result
    assert result.data.sources == {
        "items": "items.csv",
        "pairs": "pairs.csv",
        "labels": "labels.csv",
    }
    assert all(len(digest) == 64 for digest in result.data.checksums.values())
    assert result.data.columns["id"] == "photo"
    assert result.data.columns["annotator"] == "worker"
    assert result.data.answers == {"yes": "same", "no": "different"}
    kinds = {one.name: one.kind for one in result.data.features}
    assert kinds == {
        "width": "number",
        "height": "number",
        "colour": "category",
        "about": "text",
        "unit": "constant",
    }
    assert (result.data.n_items, result.data.n_pairs, result.data.n_annotators) == (90, 689, 3)
    assert result.data.audit.n_pairs == 689  # 11 are copies
    assert {row.name for row in result.evidence.annotators} == {"ann", "bob", "cid"}


def test_methods_and_baselines_are_compared(fitted: Fitted) -> None:
    rows = {row.name: row for row in fitted.result.choice.candidates}
    assert list(rows) == ["joint", "weighted", "correction", "k-means", "majority"]
    chosen = rows[fitted.result.choice.method]
    assert chosen.behind == 0.0
    tried = [row for row in rows.values() if row.refusal is None]
    assert len(tried) >= 3
    for row in tried:
        assert row.behind == pytest.approx(chosen.log_likelihood - row.log_likelihood)
    assert rows["majority"].behind > 0.1
    assert fitted.result.choice.why


def test_reliability_covers_every_held_out_answer(fitted: Fitted) -> None:
    bins = fitted.result.evidence.reliability
    assert sum(one.n_answers for one in bins) == fitted.result.choice.n_held_out
    assert np.all(np.diff([one.predicted for one in bins]) >= 0)
    inside = [one.observed.low - 0.1 <= one.predicted <= one.observed.high + 0.1 for one in bins]
    assert np.mean(inside) >= 0.7


def test_suspects_are_mostly_wrong_and_shown_with_their_items(fitted: Fitted, files: Files) -> None:
    ids = {name: k for k, name in enumerate(files.read().ids)}
    found = fitted.result.evidence.suspects
    assert len(found) == fitted.result.evidence.n_suspects == len(fitted.suspects) >= 20
    wrong = [
        (files.y[ids[one.left]] == files.y[ids[one.right]]) != (one.answer == "same")
        for one in found
    ]
    assert np.mean(wrong) > 0.8
    assert all(one.annotator in {"ann", "bob", "cid"} for one in found)
    assert {"width", "colour"} <= set(found[0].left_features)
    assert np.all(np.diff([one.probability for one in found]) <= 1e-6)


def test_the_result_is_plain_and_announced_step_by_step(fitted: Fitted, steps: list[str]) -> None:
    whole = json.loads(json.dumps(fitted.result.to_dict(), allow_nan=False, default=str))
    assert whole["method"] == fitted.result.choice.method
    assert "suspects" not in fitted.result.facts
    assert len(steps) == len(step_shares(QUICK))


def test_point_wise_fit_with_curve_and_the_same_seed_twice(tmp_path: Path) -> None:
    files = write_files(tmp_path, n_pairs=4000, prior=0.15)
    request = Request(method="weighted", estimator="logistic", curve=True, annotators=False)
    one, two = (fit_dataset(files.read(), request).result for _ in range(2))
    assert (one.data, one.model, one.evidence) == (two.data, two.model, two.evidence)
    choices = [replace(each.choice, candidates=()) for each in (one, two)]
    runs = [replace(each.run, seconds=0.0, date="") for each in (one, two)]
    assert choices[0] == choices[1]
    assert runs[0] == runs[1]
    assert one.choice.method == "weighted"
    assert not one.model.noise.has_interval
    assert one.evidence.annotators is None
    assert one.evidence.curve[-1].share == 1.0
    assert one.model.prior.low <= one.model.prior.estimate <= one.model.prior.high
    assert one.model.accuracy.low < one.model.accuracy.high
    assert "corrected for the noise" in one.model.accuracy_how


def test_answers_all_alike_or_missing_are_refused(files: Files) -> None:
    data = files.read()
    same = replace(data, pairs=data.pairs.select(data.pairs.same))
    with pytest.raises(NotIdentifiable, match=r"answers are 'same': one class only"):
        fit_dataset(same, QUICK)
    different = replace(data, pairs=data.pairs.select(~data.pairs.same))
    with pytest.raises(NotIdentifiable, match="answers are 'different'"):
        fit_dataset(different, QUICK)
    none = replace(data, pairs=data.pairs.select(np.zeros(data.pairs.n_pairs, dtype=bool)))
    with pytest.raises(ValueError, match="no answer about two distinct items"):
        fit_dataset(none, QUICK)


def test_random_answers_are_refused(tmp_path: Path) -> None:
    files = write_files(tmp_path, n_items=50, n_pairs=120)
    data, rng = files.read(), np.random.default_rng(0)
    pairs = data.pairs
    random = Pairs(pairs.left, pairs.right, rng.random(pairs.n_pairs) < 0.5, n_items=pairs.n_items)
    with pytest.raises(NotIdentifiable):
        fit_dataset(replace(data, pairs=random, annotator_names=None), JOINT)


@pytest.mark.parametrize(
    ("noise", "prior"),
    [
        (PairingNoise(0.2, 0.1), [0.5, 0.3, 0.2]),
        (LabelingNoise(0.1, 0.3), [0.6, 0.4]),
        (MatrixNoise(((0.9, 0.3, 0.2), (0.3, 0.8, 0.1), (0.2, 0.1, 0.6))), [0.2, 0.5, 0.3]),
    ],
)
def test_mean_rates_by_enumeration(noise: object, prior: list[float]) -> None:
    K, S = len(prior), noise.same_probability(len(prior))
    cells = [(k, m, prior[k] * prior[m], S[k, m]) for k in range(K) for m in range(K)]
    similar = sum(p * (1 - s) for k, m, p, s in cells if k == m)
    similar /= sum(p for k, m, p, _ in cells if k == m)
    dissimilar = sum(p * s for k, m, p, s in cells if k != m)
    dissimilar /= sum(p for k, m, p, _ in cells if k != m)
    assert mean_rates(noise, np.array(prior)) == pytest.approx((similar, dissimilar))


def test_no_folder_of_anyone_goes_into_the_result(fitted: Fitted, files: Files) -> None:
    facts = json.dumps(fitted.result.facts, default=str)
    assert str(Path(files.items).parent) not in facts
