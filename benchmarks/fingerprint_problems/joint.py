"""The joint learner: classes, noise families, starts, annotators, labels, tables, streams."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from noisypairs import CleanPairs, JointPairClassifier, MatrixNoise, Pairs, SearchOptions, datasets

from .problem import (
    LABELING,
    NOISE,
    answers,
    crowd,
    enough_pairs,
    fitted,
    found_by,
    items,
    problem,
    table_of,
    with_some_labels,
)

#: Names of noise models that can show which classes are confused.
FAMILIES = ("free", "auto")


def joint(estimator: Any = "logistic", **settings: Any) -> JointPairClassifier:
    """Return a joint learner; with logistic regression unless other candidates are wanted."""
    chosen = LogisticRegression() if estimator == "logistic" else estimator
    settings = {"class_order": "falling"} | settings
    return JointPairClassifier(chosen, random_state=0, **settings)


@problem
def joint_default_candidates() -> Any:
    return fitted(joint(None), answers())


@problem
def joint_three_classes() -> Any:
    return fitted(joint(None, n_classes=3, class_order=None), answers(n_classes=3), 3)


@problem
def joint_four_classes() -> Any:
    return fitted(joint(n_classes=4, class_order=None), answers(n_classes=4, n_pairs=1500), 4)


@problem
def joint_open_number_of_classes() -> Any:
    return fitted(joint(n_classes=[2, 3, 4], class_order=None), answers(n_classes=3), 3)


@problem
def joint_many_classes() -> Any:
    pairs = answers(n_classes=12, n_pairs=1800)
    given, open_number = (joint(n_classes=K, class_order=None) for K in (12, "auto"))
    return {"given": fitted(given, pairs, 12), "open": fitted(open_number, pairs, 12)}


@problem
def joint_simulated_crowd() -> Any:
    settings = {"n_items": 120, "n_annotators": 20, "pairs_per_item": 12, "random_state": 0}
    people = {"bias_spread": 0.5, "skill_spread": 0.5, "hard_share": 0.1}
    drawn = datasets.load("crowd", return_X_y=False, **settings, **people)
    model = joint(None, n_classes=3, class_order=None).fit(drawn.data, drawn.pairs)
    return found_by(model, drawn.data)


@problem
def joint_confused_classes() -> Any:
    S = 0.1 + 0.75 * np.eye(4)
    S[0, 1] = S[1, 0] = 0.5
    pairs = answers(MatrixNoise(S), n_classes=4, n_pairs=1440)
    models = {name: joint(None, n_classes=4, noise=name, class_order=None) for name in FAMILIES}
    return {name: fitted(model, pairs, 4) for name, model in models.items()}


@problem
def joint_noise_families() -> Any:
    families = ("pairing", "labeling", *FAMILIES)
    return {name: fitted(joint(noise=name), answers(LABELING)) for name in families}


@problem
def joint_free_noise_of_three_classes() -> Any:
    return fitted(joint(n_classes=3, noise="free", class_order=None), answers(n_classes=3), 3)


@problem
def joint_given_noise() -> Any:
    return [
        fitted(joint(noise=NOISE), answers()),
        fitted(joint(noise=LABELING, n_classes=2), answers(LABELING)),
        fitted(joint(noise=CleanPairs()), answers(CleanPairs())),
    ]


@problem
def joint_annotators() -> Any:
    return [
        fitted(joint(answer_model=["people", "clarity", "similarity", "pair error"]), crowd()),
        fitted(
            joint(
                n_classes=3,
                class_order=None,
                answer_model=["people", "clarity", "similarity", "pair error"],
            ),
            crowd(3),
            3,
        ),
    ]


@problem
def joint_weights() -> Any:
    return [
        fitted(joint(), crowd(weights=True)),
        fitted(
            joint(answer_model=["people", "clarity", "similarity", "pair error"]),
            crowd(weights=True),
        ),
    ]


@problem
def joint_labels() -> Any:
    two = with_some_labels(answers(), items()[1])
    three = with_some_labels(answers(n_classes=3), items(3)[1])
    return [
        fitted(joint(class_order=None), two),
        fitted(joint(n_classes=3, class_order=None), three, 3),
    ]


@problem
def joint_items_in_no_pair() -> Any:
    pairs = answers()
    alone = (pairs.left >= 10) & (pairs.right >= 10)
    return fitted(joint(), pairs.select(alone))


@problem
def joint_repeated_pairs() -> Any:
    _, y = items()
    once = answers(CleanPairs(), n_pairs=300)
    left, right = np.repeat(once.left, 3), np.repeat(once.right, 3)
    same = NOISE.corrupt(y, left, right, random_state=5)
    return fitted(joint(), Pairs(left, right, same, once.n_items))


@problem
def joint_several_estimators() -> Any:
    few = [LogisticRegression(C=0.1), LogisticRegression(C=10.0)]
    return fitted(joint(few, cv=3, search=SearchOptions(max_iter=4, tol=1e-2)), answers())


@problem
def joint_sampled_in_memory() -> Any:
    with enough_pairs(800):
        return fitted(joint(search=SearchOptions(max_iter=20)), answers(n_pairs=4000))


@problem
def joint_table_loaded() -> Any:
    with table_of(crowd(weights=True)) as table:
        return fitted(joint(answer_model=["people", "clarity", "similarity", "pair error"]), table)


def streamed(pairs: Pairs, n_classes: int = 2, **settings: Any) -> dict[str, Any]:
    """Fit a joint learner to a table too large to load, and ask for the worst answers."""
    model = joint(n_classes=n_classes, **settings, search=SearchOptions(max_iter=20))
    with table_of(pairs) as table, enough_pairs(600):
        found = fitted(model, table, n_classes)
        suspects = model.stream_suspects(table, 20)
    if model.wrong_proba_ is not None:
        raise RuntimeError("the pairs were loaded, not streamed")
    return found | {"suspects": suspects}


@problem
def joint_streamed() -> Any:
    return [streamed(answers()), streamed(answers(n_classes=3), 3, class_order=None)]


@problem
def joint_streamed_annotators() -> Any:
    return streamed(crowd(), annotators=True)


@problem
def joint_streamed_weights() -> Any:
    return streamed(crowd(weights=True))


@problem
def joint_suspects_and_intervals() -> Any:
    X, _ = items()
    model = joint().fit(X, answers())
    found = model.intervals(X, answers(), n_bootstrap=4)
    with table_of(answers()) as table:
        of_table = model.intervals(X, table, n_bootstrap=2)
    three = joint(n_classes=3, class_order=None).fit(items(3)[0], answers(n_classes=3))
    more = three.intervals(items(3)[0], answers(n_classes=3), n_bootstrap=2)
    return [model.suspect_pairs(), model.suspect_pairs(7), found, of_table, more]
