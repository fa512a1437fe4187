"""The demo: every method has its row, the joint learner its lead, the command its output."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from typer.testing import CliRunner

from noisypairs import (
    CleanPairs,
    JointPairClassifier,
    LossCorrectionClassifier,
    PairingNoise,
    Pairs,
    algebra,
    cli,
    datasets,
    metrics,
    sample_pairs,
)
from noisypairs.app import demo
from noisypairs.app.demo import learning
from noisypairs.app.demo.learning import CROWD, REFERENCE, attempt
from noisypairs.app.fit.summary import mean_rates
from noisypairs.app.report import charts
from noisypairs.app.report.page import Page, is_generated
from noisypairs.noise import LabelingNoise
from tests.app.page_reader import words_of

#: Drawing takes half a second, and the same result is shown by many tests.
drawn_once = cache(demo.demo_report)

POINTWISE = ("Loss correction", "Weighted", "SD-Loss (no noise)", "Unweighted")


@pytest.fixture(scope="module")
def steps() -> list[str]:
    return []


@pytest.fixture(scope="module")
def result(steps: list[str]) -> demo.Demo:
    return demo.run(0, steps.append)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in a folder of its own: the command writes where it is."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, result: demo.Demo):
    """Invoke the command with the work already done, and say with which seed it was asked for."""

    def invoke(*words: str):
        def done(seed: int, progress):
            progress("the only step")
            return replace(result, seed=seed)

        monkeypatch.setattr(demo, "run", done)
        monkeypatch.setattr(demo, "demo_report", drawn_once)
        return CliRunner().invoke(cli.application(), ["demo", *words])

    return invoke


def without_seconds(facts):
    """Return nested JSON without its only entries that differ between runs."""
    if isinstance(facts, dict):
        return {key: without_seconds(one) for key, one in facts.items() if key != "seconds"}
    return [*map(without_seconds, facts)] if isinstance(facts, list | tuple) else facts


# ---------------------------------------------------------------- the work


def test_every_method_has_its_row(result, steps):
    given_nothing = {row.method for row in result.cancer.rows if row.told == "nothing"}
    given_prior = {row.method for row in result.cancer.rows if row.told == "share of malignant"}
    assert given_nothing == {
        "Joint learner",
        *POINTWISE,
        "COP-k-means",
        "k-means, answers ignored",
    }
    assert given_prior == set(POINTWISE)
    assert (result.cancer.rows[-1].method, result.cancer.rows[-1].told) == REFERENCE
    assert len(result.crowd.rows) == 4
    assert len(steps) == demo.N_STEPS == len(result.cancer.rows) + len(result.crowd.rows)
    assert steps[0] == "Joint learner (nothing)"


def test_a_row_has_an_accuracy_or_a_reason(result):
    for row in (*result.cancer.rows, *result.crowd.rows):
        assert (row.test_accuracy is None) == (row.refusal is not None)
        assert row.seconds >= 0.0


def test_the_joint_learner_given_nothing_is_near_the_true_classes_and_ahead_of_the_others(result):
    joint, *others, clean = (row.test_accuracy for row in result.cancer.rows)
    assert joint > clean - 0.03
    assert joint > max(one for one in others if one is not None)


def test_the_facts_about_the_tumours_are_those_of_a_draw_of_our_own(result):
    X, y = datasets.load("cancer")
    train = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=0)[0]
    pairs = sample_pairs(y[train], 5 * len(train), PairingNoise(0.3, 0.2), random_state=0)
    truth = y[train][pairs.left] == y[train][pairs.right]
    part = result.cancer
    assert (part.n_train, part.n_train + part.n_test) == (len(train), len(y))
    assert (part.n_features, part.n_pairs) == (X.shape[1], pairs.n_pairs)
    assert part.n_wrong == (pairs.same != truth).sum()
    assert part.larger_class == pytest.approx(1 - y[train].mean())


def test_rates_prior_and_suspects_are_near_the_truth(result):
    part, found = result.cancer, result.cancer.learnt
    assert found.similar_flip == pytest.approx(part.similar_flip, abs=0.05)
    assert found.dissimilar_flip == pytest.approx(part.dissimilar_flip, abs=0.05)
    assert found.larger_class == pytest.approx(part.larger_class, abs=0.05)
    assert 0.9 * found.n_suspect <= found.n_suspect_wrong <= found.n_suspect
    assert found.n_suspect_wrong >= 0.9 * part.n_wrong


def test_mean_rates_of_labeling_noise_agree_with_counting_pairs():
    noise, prior = LabelingNoise(0.3, 0.1), 0.3
    y = (np.random.default_rng(0).random(3000) < prior).astype(int)
    pairs = sample_pairs(y, 400_000, noise, random_state=1)
    truly_same = y[pairs.left] == y[pairs.right]
    counted = 1 - pairs.same[truly_same].mean(), pairs.same[~truly_same].mean()
    # Standard errors are below .0013; four of them.
    assert mean_rates(noise, np.array([1.0 - y.mean(), y.mean()])) == pytest.approx(
        counted, abs=0.005
    )


def test_rates_for_every_annotator_label_the_compared_items_better(result):
    apart, alike, kmeans, reference = result.crowd.rows
    assert apart.train_accuracy > alike.train_accuracy > kmeans.train_accuracy
    assert reference.train_accuracy is None  # it was given these very classes
    assert reference.test_accuracy > 0.75


def test_the_worst_annotators_are_the_busy_ones_whose_rates_sum_highest(result):
    worst = result.crowd.worst
    sums = [one.similar_flip + one.dissimilar_flip for one in worst]
    assert len(worst) == learning.N_WORST
    assert sums == sorted(sums, reverse=True)
    assert min(one.n_answers for one in worst) >= learning.ENOUGH_ANSWERS
    assert sum(one.kind != "honest" for one in worst) > len(worst) / 2
    here = datasets.simulated_crowd(random_state=np.random.default_rng(0).spawn(1)[0], **CROWD)
    for one in worst:
        assert one.n_answers == (here.pairs.annotator == one.name).sum()
        assert one.kind == here.annotator_kind[one.name]
        assert [one.true_similar_flip, one.true_dissimilar_flip] == pytest.approx(
            here.annotator_rates[one.name]
        )


# ---------------------------------------------------------------- one attempt


def balanced() -> tuple[np.ndarray, np.ndarray, Pairs]:
    X, y = datasets.load("gaussians", n_samples=200, prior=0.5, random_state=0)
    return X, y, sample_pairs(y, 600, random_state=0)


def refusing() -> LossCorrectionClassifier:
    """A learner that refuses balanced data for one reason, whatever its folds."""
    return LossCorrectionClassifier(noise=CleanPairs(), random_state=0)


def test_a_refusal_is_a_row_with_the_reason():
    X, y, pairs = balanced()
    row = attempt(
        ("T", "nothing", LossCorrectionClassifier(noise=CleanPairs(), random_state=0)),
        (X, pairs),
        (X, y),
        y,
    )
    assert (row.test_accuracy, row.train_accuracy) == (None, None)
    assert "items one by one" in row.refusal


def test_other_errors_are_not_hidden():
    X, y, pairs = balanced()
    with pytest.raises(ValueError, match="X has 100 rows"):
        attempt(("J", "nothing", JointPairClassifier(random_state=0)), (X[:100], pairs), (X, y))


def test_warnings_are_noted_but_for_class_names():
    X, y = datasets.load("gaussians", n_samples=300, prior=0.4, random_state=0)
    noise = PairingNoise(0.2, 0.2)
    pairs = sample_pairs(y, 800, noise, random_state=0)
    signal = algebra.signal(noise.same_probability(), 0.4)
    assert 2 < abs(signal) * np.sqrt(2 * 800) < 10  # enough to learn from, and to be warned about
    model = LossCorrectionClassifier(noise=noise, prior=0.4, random_state=0)
    row = attempt(("T", "all", model), (X, pairs), (X, y))
    assert len(row.warnings) == 1
    assert "expect a large spread" in row.warnings[0]
    joint = attempt(("J", "", JointPairClassifier(random_state=0)), (X, pairs), (X, y))
    assert joint.warnings == ()


def test_accuracies_are_up_to_class_names_and_see_the_answers_where_they_can():
    X, y, pairs = balanced()
    model = JointPairClassifier(random_state=0)
    row = attempt(("J", "nothing", model), (X, pairs), (X, 1 - y), 1 - y)
    assert row.test_accuracy == metrics.accuracy_up_to_names(y, model.predict(X)) > 0.98
    assert row.train_accuracy == metrics.accuracy_up_to_names(y, model.item_proba_.argmax(axis=1))
    plain = attempt(("L", "classes", LogisticRegression()), (X, y), (X[:9], y[:9]), y)
    assert plain.train_accuracy == LogisticRegression().fit(X, y).score(X, y)


# ---------------------------------------------------------------- the words and the command


def test_the_command_prints_the_tables_and_what_was_learnt(run, result):
    printed = run()
    assert printed.exit_code == 0
    for row in (*result.cancer.rows, *result.crowd.rows):
        accuracy = row.test_accuracy
        cell = "refuses: no signal" if accuracy is None else f"{accuracy:.1%}"
        line = [row.method, cell + " *" * bool(row.warnings and accuracy)]
        assert any(all(word in text for word in line) for text in printed.stdout.splitlines())
    text = " ".join(printed.stdout.split())
    found, part = result.cancer.learnt, result.cancer
    assert f"{part.n_pairs:,} answers" in text
    assert f"{part.n_wrong / part.n_pairs:.0%} of the answers are wrong" in text
    assert f"{found.similar_flip:.0%} of the same pairs are called different (truly 30%)" in text
    assert f"It suspects {found.n_suspect:,} answers; {found.n_suspect_wrong:,} of these" in text
    assert "SD-Loss (no noise): 46.8% of the answers are 'same'" in text
    last = printed.stdout.splitlines()[-1]
    assert last.endswith("with seed 0. The same with pictures: report.html")
    assert "\x1b" not in printed.stdout  # no colours where there is no terminal
    assert max(map(len, printed.stdout.splitlines())) <= 100


def test_progress_goes_to_stderr_unless_quiet(run):
    assert run().stderr == "the only step …\n"
    quiet = run("--quiet")
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert quiet.stdout == run().stdout


def test_the_seed_is_passed_on(run):
    assert json.loads(run("--json", "--seed", "7").stdout)["seed"] == 7


def test_json_of_a_run_of_its_own_equals_the_result(result):
    """The whole way, nothing replaced: one seed gives one result."""
    printed = CliRunner().invoke(cli.application(), ["demo", "--json", "--quiet"])
    assert (printed.exit_code, printed.stderr) == (0, "")
    expected = json.loads(json.dumps(asdict(result))) | {"report": "report.html"}
    assert without_seconds(json.loads(printed.stdout)) == without_seconds(expected)


def test_when_the_joint_learner_refuses_the_words_say_so(result):
    silent = replace(
        result,
        cancer=replace(result.cancer, learnt=None),
        crowd=replace(result.crowd, worst=()),
    )
    tumours, crowd = demo.stories(silent)
    assert "nothing was learnt" in tumours.after
    assert crowd.title == "2. A crowd"


def test_without_a_joint_model_the_reference_is_the_default_classifier():
    X, y, pairs = balanced()
    refuses = ("T", "clean", refusing())
    facts, model, _ = learning.compare([refuses], (X, pairs, y), (X, y), lambda _: None)
    rows = facts["rows"]
    assert model is None
    assert rows[0].refusal is not None
    assert rows[1].test_accuracy > 0.98


@pytest.mark.parametrize(
    "words", [["--sede", "1"], ["--seed", "x"], ["--seed", "-1"], ["--seed", str(2**32)], ["more"]]
)
def test_wrong_use_exits_with_2(run, words):
    printed = run(*words)
    assert (printed.exit_code, printed.stdout) == (2, "")
    assert words[0] in printed.stderr


def test_missing_or_damaged_data_exits_with_1_in_one_line(monkeypatch):
    def fails(seed, progress):
        raise datasets.TableMismatch("cancer: wrong\nshape")

    monkeypatch.setattr(demo, "run", fails)
    printed = CliRunner().invoke(cli.application(), ["demo"])
    assert (printed.exit_code, printed.stdout) == (1, "")
    assert printed.stderr == "Error: cancer: wrong shape\n"


# ---------------------------------------------------------------- the page


def test_the_page_says_what_the_command_prints(run, result):
    assert run().exit_code == 0
    html = Path("report.html").read_text(encoding="utf-8")
    assert is_generated(html, demo.GENERATOR)
    text = words_of(html)
    for one in demo.stories(result):
        for part in (one.title, one.before, one.after, *one.footnotes):
            assert " ".join(part.split()) in text
        for row in one.rows:
            assert " ".join(filter(None, row)) in text
    joint, clean = result.cancer.rows[0].test_accuracy, result.cancer.rows[-1].test_accuracy
    assert f"the joint learner puts {joint:.1%} of new tumours in the right class" in text
    assert f"trained on every true class gets {clean:.1%}" in text
    assert text.index(f"{joint:.1%}") < text.index("1. Tumours")
    assert html.count("<svg") == 3


def test_intervals_of_the_page_are_those_of_the_test_items(result):
    """Wilson's interval by its own formula, against the text of the first number."""
    n, share = result.cancer.n_test, result.cancer.rows[0].test_accuracy
    middle = (share + 1.96**2 / (2 * n)) / (1 + 1.96**2 / n)
    half = 1.96 / (1 + 1.96**2 / n) * np.sqrt(share * (1 - share) / n + 1.96**2 / (4 * n**2))
    expected = f"{100 * (middle - half):.0f} to {middle + half:.0%}, by the chance of {n} items"
    assert expected in words_of(demo.demo_report(result))


def test_a_page_where_the_joint_learner_refused_says_so(result):
    first = replace(result.cancer.rows[0], test_accuracy=None, refusal="no <signal> at all")
    silent = replace(
        result,
        cancer=replace(result.cancer, learnt=None, rows=(first, *result.cancer.rows[1:])),
        crowd=replace(result.crowd, worst=()),
    )
    text = words_of(demo.demo_report(silent))
    assert "refuses to learn" in text
    assert "Problem. no <signal> at all" in text


def test_the_same_result_gives_the_same_page(result):
    assert demo.demo_report(result) == demo.demo_report(result)


def test_the_page_of_an_earlier_demo_is_replaced(run):
    assert run("--report", "page.html").exit_code == 0
    first = Path("page.html").read_text(encoding="utf-8")
    assert run("--report", "page.html", "--seed", "5").exit_code == 0
    second = Path("page.html").read_text(encoding="utf-8")
    assert first.replace("Seed 0", "Seed 5") == second
    assert [one.name for one in Path().iterdir()] == ["page.html"]


@pytest.mark.parametrize("content", ["my notes", Page("t", generator="noisypairs fit").html()])
def test_a_file_of_somebody_else_is_kept_unless_forced(run, content):
    target = Path("report.html")
    target.write_text(content, encoding="utf-8")
    refused = run()
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        "Error: report.html exists already: choose another name, or overwrite with --force\n"
    )
    assert target.read_text(encoding="utf-8") == content
    assert run("--no-report").exit_code == 0
    assert target.read_text(encoding="utf-8") == content
    assert run("--force").exit_code == 0
    assert is_generated(target.read_text(encoding="utf-8"), demo.GENERATOR)


@pytest.mark.parametrize("target", ["nowhere/report.html", "."])
def test_where_nothing_can_be_written_nothing_is_computed(run, target):
    refused = run("--report", target)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert len(refused.stderr.splitlines()) == 1
    assert "the only step" not in refused.stderr
    assert [*Path().iterdir()] == []


def test_without_a_report_no_file_is_written(run):
    printed = run("--no-report", "--json")
    assert json.loads(printed.stdout)["report"] is None
    assert [*Path().iterdir()] == []


def test_bars_name_what_a_method_was_given(result, monkeypatch):
    drawn, bars = [], charts.bars

    def noted(names, *values, **settings):
        drawn.append(names)
        return bars(names, *values, **settings)

    monkeypatch.setattr(charts, "bars", noted)
    demo.demo_report(result)
    names = drawn[0]
    assert len(set(names)) == len(names) == len(result.cancer.rows)
    assert names[0] == "Joint learner"
    assert "Weighted, prior given" in names
    assert names[-1] == "every true class given"


def test_methods_that_refuse_for_one_reason_share_a_footnote(result):
    refused = [row for row in result.cancer.rows if row.refusal]
    twice = replace(result.cancer, rows=(*result.cancer.rows, replace(refused[0], method="U")))
    footnotes = demo.stories(replace(result, cancer=twice))[0].footnotes
    assert footnotes[-1].startswith(f"{refused[0].method}, U: 46.8% of the answers are 'same'")
