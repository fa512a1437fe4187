"""One fit from files to a result: what it says agrees with the truth and with hand computation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import (
    JointPairClassifier,
    NotIdentifiable,
    PairingNoise,
    Pairs,
    SearchOptions,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.app import model_file
from noisypairs.app.files import read_dataset
from noisypairs.app.fit import fitting
from noisypairs.app.fit.calibration import LEVEL as CALIBRATION_LEVEL
from noisypairs.app.fit.fitting import (
    STEP_SHARES,
    Fitted,
    estimator_title,
    fit_dataset,
    held_out_answers,
    learn,
)
from noisypairs.app.fit.request import Request
from noisypairs.app.model_card import card
from noisypairs.app.report.pages import fit_report
from noisypairs.estimators.inner.classifiers import (
    GaussianClasses,
    LogisticClasses,
    default_candidates,
)
from noisypairs.estimators.inner.features import FiniteNumbers, KernelColumns, TailScaler
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


def test_one_joint_fit_is_all_it_takes(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    whole = JointPairClassifier.fit

    def counted(self: JointPairClassifier, X: Any, pairs: Any) -> Any:
        fits.append(1)
        return whole(self, X, pairs)

    monkeypatch.setattr(JointPairClassifier, "fit", counted)
    found = fit_dataset(files.read(), QUICK).result
    assert len(fits) == 1
    assert found.evidence.annotators is not None
    assert found.model.class_number is not None


def test_reliability_covers_every_held_out_answer(fitted: Fitted) -> None:
    bins = fitted.result.evidence.reliability
    assert sum(one.n_answers for one in bins) == fitted.result.data.n_pairs
    assert np.all(np.diff([one.predicted for one in bins]) >= 0)
    inside = [one.observed.low - 0.1 <= one.predicted <= one.observed.high + 0.1 for one in bins]
    assert np.mean(inside) >= 0.7
    assert fitted.result.evidence.calibration.p_value > CALIBRATION_LEVEL


def test_a_point_wise_method_predicts_answers_inside_parts_it_has_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write_files(tmp_path, n_pairs=4000, prior=0.15)
    data, seen = files.read(), []
    whole = WeightedPairClassifier.fit

    def noted(self: WeightedPairClassifier, X: Any, pairs: Any) -> Any:
        seen.append((len(X), pairs.n_pairs, len(pairs.labels)))
        return whole(self, X, pairs)

    monkeypatch.setattr(WeightedPairClassifier, "fit", noted)
    learnt = learn(data, Request("weighted", "logistic"))
    found = held_out_answers(learnt)
    assert [n for n, _, _ in seen] == [90, 60, 60, 60]
    assert all(labels == 0 for _, _, labels in seen[1:])
    assert found.pairs.n_pairs < data.pairs.n_pairs / 2  # answers across parts judge nobody
    right = (found.classes == files.y).mean()
    assert max(right, 1 - right) > 0.6  # names may differ from part to part
    log = np.log(np.where(found.pairs.same, found.chance, 1 - found.chance))
    share = found.pairs.same.mean()
    blind = np.log(np.where(found.pairs.same, share, 1 - share))
    assert found.gain.nats == pytest.approx((log - blind).sum())
    assert found.gain.exceeds(2)


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
    assert np.all(np.diff([one.probability for one in found]) <= 1e-5)


def test_the_result_is_plain_and_announced_step_by_step(fitted: Fitted, steps: list[str]) -> None:
    whole = json.loads(json.dumps(fitted.result.to_dict(), allow_nan=False, default=str))
    assert whole["method"] == "joint"
    assert "suspects" not in fitted.result.facts
    assert len(steps) == len(STEP_SHARES)


def test_point_wise_fit_and_the_same_seed_twice(tmp_path: Path) -> None:
    files = write_files(tmp_path, n_pairs=4000, prior=0.15)
    request = Request(method="weighted", estimator="logistic", annotators=False)
    one, two = (fit_dataset(files.read(), request).result for _ in range(2))
    assert (one.data, one.model, one.evidence) == (two.data, two.model, two.evidence)
    runs = [replace(each.run, seconds=0.0, date="") for each in (one, two)]
    assert runs[0] == runs[1]
    assert one.model.method == "weighted"
    assert not one.model.noise.has_interval
    assert one.evidence.annotators is None
    assert one.model.prior.low <= one.model.prior.estimate <= one.model.prior.high
    assert one.model.accuracy.low < one.model.accuracy.high
    assert "corrected for the estimated noise" in one.model.accuracy_how


def test_labels_measure_a_point_wise_method_too(tmp_path: Path) -> None:
    files = write_files(tmp_path, n_pairs=4000, prior=0.15)
    data = files.read()
    named = {k: "yew" if files.y[k] else "ash" for k in range(40)}
    data = replace(data, pairs=data.pairs.with_labels(named))
    request = Request(method="weighted", estimator="logistic", annotators=False)
    found = fit_dataset(data, request).result.verdict
    assert found.is_measured
    assert found.measured.n_items == 40
    assert found.accuracy.low <= found.estimated.estimate <= found.accuracy.high


def test_answers_all_alike_or_missing_are_refused(files: Files) -> None:
    data = files.read()
    same = replace(data, pairs=data.pairs.select(data.pairs.same))
    with pytest.raises(NotIdentifiable, match=r"answers are 'same'; nothing can be learnt"):
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


def test_no_folder_of_anyone_goes_into_the_result(fitted: Fitted, files: Files) -> None:
    facts = json.dumps(fitted.result.facts, default=str)
    assert str(Path(files.items).parent) not in facts


def joint(estimator):
    X, y = datasets.load("gaussians", n_samples=120, prior=0.4, random_state=14)
    pairs = sample_pairs(y, 600, PairingNoise(0.2, 0.2), random_state=14)
    settings = {
        "class_order": "falling",
        "noise": "pairing",
        "random_state": 0,
        "search": SearchOptions(max_iter=2, tol=1.0),
    }
    return JointPairClassifier(estimator, n_classes=2, **settings).fit(X, pairs)


#: Class models of the search, which may be kept too.
SEARCHED = {
    "gaussian": make_pipeline(FiniteNumbers(), TailScaler(), GaussianClasses()),
    "ridge": make_pipeline(FiniteNumbers(), KernelColumns(), LogisticClasses()),
}


def parts(estimator):
    """Return the types of an estimator's steps, or its own."""
    return [type(step) for _, step in getattr(estimator, "steps", [("", estimator)])]


def heavy_tailed_files(folder, n_columns, seed):
    """Write 80 items with heavy tails, on which who leads often needs a larger lead."""
    rng = np.random.default_rng(seed)
    y = (rng.random(80) < 0.4).astype(int)
    x = rng.exponential(size=(80, n_columns)) * rng.choice([-1, 1], (80, n_columns))
    x += 2.5 / np.sqrt(n_columns) * y[:, None]
    ids = np.array([f"p{k}" for k in range(80)])
    items = pd.DataFrame(x, columns=[f"f{k}" for k in range(n_columns)])
    items.assign(photo=ids).to_csv(folder / "items.csv", index=False)
    pairs = sample_pairs(y, 500, PairingNoise(0.15, 0.15), random_state=seed)
    answers = pd.DataFrame({"left": ids[pairs.left], "right": ids[pairs.right]})
    answers["same"] = np.where(pairs.same, "yes", "no")
    answers.to_csv(folder / "pairs.csv", index=False)
    return read_dataset(folder / "items.csv", folder / "pairs.csv")


def test_report_card_json_and_file_name_the_estimator_inside_the_model(tmp_path):
    misleading = 0
    for n_columns, seed in ((2, 0), (2, 1), (2, 2), (6, 3), (12, 0), (12, 1)):
        data = heavy_tailed_files(tmp_path, n_columns, seed)
        found = fit_dataset(data, Request(method="joint", n_classes=2, annotators=False))
        path = model_file.save(tmp_path / "m.skops", found.model, found.result.facts, force=True)
        loaded = model_file.load(path)
        kept, name = loaded.pipeline[-1], loaded.facts["estimator_title"]
        named = default_candidates(np.zeros((80, n_columns)), 0) | SEARCHED
        assert parts(kept.estimator_) == parts(named[name])
        assert found.result.to_dict()["estimator_title"] == name
        assert f"Joint learner with {name}, learnt from" in card(loaded.facts)
        assert f"Joint learner with {name}, seed 0" in fit_report(found.result)
        leading = max(kept.candidates_, key=kept.candidates_.get)
        misleading += leading != name and kept.candidates_[leading] > kept.log_likelihood_
    assert misleading >= 1  # the highest likelihood would have been the wrong name


def test_one_estimator_is_named_by_the_type_of_its_last_step():
    model = joint(make_pipeline(StandardScaler(), LogisticRegression()))
    assert model.candidate_ == "0: Pipeline"
    assert estimator_title(model) == "LogisticRegression"


def test_the_prior_is_the_root_that_the_model_took() -> None:
    X, y = datasets.load("gaussians", n_samples=400, prior=0.2, random_state=0)
    noise = PairingNoise(0.1, 0.1)
    pairs = sample_pairs(y, 4000, noise, random_state=0)
    model = WeightedPairClassifier(noise=noise, class_order="falling", random_state=0).fit(X, pairs)
    assert len(model.prior_estimate_.roots) == 2
    found = fitting.root_taken(model)
    assert found.estimate == model.prior_
    assert found.low < model.prior_ < found.high
