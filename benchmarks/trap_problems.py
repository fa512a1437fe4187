"""The problems of `traps.py`: data on which a model can be confidently wrong.

Every problem is a function of a seed. "Answers per item" are pairs asked, divided by items, so that
an item is in about twice as many. Real answers are read from the folder NOISYPAIRS_DATA.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import expit, logit
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import NearestNeighbors

from noisypairs import LabelingNoise, MatrixNoise, PairingNoise, Pairs, sample_pairs


@dataclass(frozen=True)
class Problem:
    """Items, answers, true classes and the keyword arguments of `JointPairClassifier`.

    ``y`` is None where no classes exist. ``new`` are items in no pair with their classes, for the
    accuracy on new items. ``groups`` says which rows are one thing. ``reference`` are keyword
    arguments of a second fit, to show what could be had.
    """

    X: Any
    pairs: Pairs
    y: Any
    settings: Mapping[str, Any] = field(default_factory=dict)
    new: tuple[Any, Any] | None = None
    groups: Any = None
    reference: Mapping[str, Any] | None = None


Draw = Callable[[int], Problem]


def random_questions(n_items: int, n_pairs: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw pairs of distinct items, shape (n_pairs,) each."""
    left = rng.integers(n_items, size=n_pairs)
    return left, (left + rng.integers(1, n_items, size=n_pairs)) % n_items


def gaussian_items(means: Any, n_items: int, rng: np.random.Generator, sd: float = 1.0) -> Any:
    """Draw items of equally large Gaussian classes: X (n, d) and y."""
    y = rng.integers(len(means), size=n_items)
    return means[y] + sd * rng.normal(size=(n_items, means.shape[1])), y


def random_means(n_classes: int, n_features: int, spread: float, rng: np.random.Generator) -> Any:
    return spread * rng.normal(size=(n_classes, n_features))


def as_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


# --- two classes that people confuse -------------------------------------------------------------


def confused_matrix(n_classes: int, confused: tuple[int, ...] = (0, 1)) -> MatrixNoise:
    """Return S: .85 on the diagonal, .5 between classes that are confused, .1 elsewhere."""
    S = np.full((n_classes, n_classes), 0.1)
    S[np.ix_(confused, confused)] = 0.5
    np.fill_diagonal(S, 0.85)
    return MatrixNoise(S)


def confused_problem(X: Any, y: Any, noise: Any, seed: int, new: Any = None) -> Problem:
    """Return 12 answers per item; the number of classes is given."""
    pairs = sample_pairs(y, 12 * len(y), noise, random_state=seed)
    settings = {"n_classes": len(np.unique(y))}
    return Problem(X, pairs, y, settings, new, reference=settings | {"noise_model": "free"})


def confused_digits(seed: int, digits: tuple[int, ...], confused: tuple[int, ...] = (0, 1)) -> Any:
    """Digits; ``confused`` are positions among ``digits``."""
    X, digit = load_digits(return_X_y=True)
    kept = np.isin(digit, digits)
    y = np.searchsorted(digits, digit[kept])
    return confused_problem(X[kept], y, confused_matrix(len(digits), confused), seed)


def confused_gaussians(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    means = random_means(5, 6, 2.0, rng)
    (X, y), new = gaussian_items(means, 500, rng), gaussian_items(means, 3000, rng)
    return confused_problem(X, y, confused_matrix(5), seed, new)


def confused_counts(seed: int) -> Problem:
    """Count 150 words in texts of 25 words; half of the words of a text belong to its class."""
    rng = np.random.default_rng(seed)
    words = 0.5 * rng.dirichlet(np.full(150, 0.15), size=5) + 0.5 / 150

    def items(size: int) -> tuple[Any, Any]:
        y = rng.integers(5, size=size)
        return csr_array(np.stack([rng.multinomial(25, words[k]) for k in y])), y

    return confused_problem(*items(400), confused_matrix(5), seed, items(2000))


def three_confused(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    means = random_means(6, 8, 1.6, rng)
    (X, y), new = gaussian_items(means, 600, rng), gaussian_items(means, 3000, rng)
    return confused_problem(X, y, confused_matrix(6, (0, 1, 2)), seed, new)


def one_sided(seed: int) -> Problem:
    """Class 1 is taken for class 0 in 45 % of the cases, class 0 for class 1 never."""
    rng = np.random.default_rng(seed)
    means = random_means(4, 6, 2.0, rng)
    (X, y), new = gaussian_items(means, 500, rng), gaussian_items(means, 3000, rng)
    flip = 0.92 * np.eye(4) + 0.02
    flip[1] = [0.45, 0.51, 0.02, 0.02]
    flip[0] = [0.96, 0.0, 0.02, 0.02]
    return confused_problem(X, y, LabelingNoise(flip=flip), seed, new)


# --- the number of classes -----------------------------------------------------------------------


def many_classes(seed: int) -> Problem:
    """25 Gaussian classes, 25 answers per item, a fifth of them wrong; the number is open."""
    rng = np.random.default_rng(seed)
    means = random_means(25, 6, 2.5, rng)
    X, y = gaussian_items(means, 400, rng)
    pairs = sample_pairs(y, 25 * len(y), PairingNoise(0.2, 0.2), random_state=as_seed(rng))
    new = gaussian_items(means, 3000, rng)
    return Problem(X, pairs, y, {"n_classes": "auto"}, new, reference={"n_classes": 25})


# --- the same item several times -----------------------------------------------------------------


def copies(seed: int, noise: float, n_labels: int = 0) -> Problem:
    """100 items, each in four rows: exact copies, or each row with noise of its own."""
    rng = np.random.default_rng(seed)
    means = np.outer([-1, 1], np.r_[0.7, np.zeros(9)])
    X, y = gaussian_items(means, 100, rng)
    X, y = np.repeat(X, 4, axis=0), np.repeat(y, 4)
    X = X + noise * rng.normal(size=X.shape)
    pairs = sample_pairs(y, 10 * len(y), PairingNoise(0.2, 0.2), random_state=as_seed(rng))
    pairs = with_some_labels(pairs, y, n_labels, rng)
    groups = np.repeat(np.arange(100), 4)
    return Problem(X, pairs, y, {"n_classes": 2}, gaussian_items(means, 4000, rng), groups)


def with_some_labels(pairs: Pairs, y: Any, n_labels: int, rng: np.random.Generator) -> Pairs:
    """Give the true classes of some items, at least one of every class."""
    if not n_labels:
        return pairs
    first = [rng.choice(np.flatnonzero(y == k)) for k in np.unique(y)]
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), first))
    labelled = np.r_[first, others[: n_labels - len(first)]]
    return pairs.with_labels({int(i): f"class {y[i]}" for i in labelled})


# --- errors that all people make -----------------------------------------------------------------


def five_species(seed: int, n_labels: int = 0) -> Problem:
    """Species 0 and 1 look alike and are called "same" nearly as often as two of one species.

    3,700 answers of 60 people about 250 photos. People lean towards "same" or "different"; 8 % of
    the photos are hard, and mostly called "different" from all others.
    """
    rng = np.random.default_rng(seed)
    means = random_means(5, 16, 1.3, rng)
    means[1] = means[0] + 0.55 * rng.normal(size=16)
    (X, y), new = gaussian_items(means, 250, rng), gaussian_items(means, 3000, rng)
    S = np.full((5, 5), 0.12)
    np.fill_diagonal(S, [0.72, 0.81, 0.8, 0.85, 0.8])
    S[0, 1] = S[1, 0] = 0.68
    hard = rng.random(len(y)) < 0.08
    X[hard] += 2.0 * rng.normal(size=X[hard].shape)
    left, right = random_questions(len(y), 3700, rng)
    who, lean = rng.integers(60, size=3700), 0.8 * rng.normal(size=60)
    odds = np.where(hard[left] | hard[right], -1.5, logit(S[y[left], y[right]])) + lean[who]
    names = np.array([f"person {k:02d}" for k in range(60)])
    pairs = Pairs(left, right, rng.random(3700) < expit(odds), len(y), annotator=names[who])
    return Problem(X, with_some_labels(pairs, y, n_labels, rng), y, {"n_classes": 5}, new)


#: Species of birds that people take for one another, by couples.
CONFUSED_BIRDS = (15, 8, 6, 1, 17, 0, 5, 4)


def twelve_birds(seed: int) -> Problem:
    """Photos of 12 of 20 species, four couples of which are often confused; real answers."""
    folder = real_data("crowd_birds20")
    X = pd.read_csv(folder / "features_effnetlite0_pca64.csv").drop(columns="item").to_numpy()
    species = pd.read_csv(folder / "items.csv")["true_class"].to_numpy()
    said = pd.read_csv(folder / "pairs.csv")
    pairs = Pairs(said["item_a"], said["item_b"], said["same"], len(species))
    others = np.setdiff1d(np.unique(species), CONFUSED_BIRDS)
    chosen = np.random.default_rng(seed).choice(others, 4, replace=False)
    kept = np.flatnonzero(np.isin(species, [*CONFUSED_BIRDS, *chosen]))
    return Problem(X[kept], pairs[kept], species[kept], {"n_classes": 12})


def boundary(seed: int) -> Problem:
    """Class 1 begins at 0 in the first column, but everybody sees class 0 up to .5."""
    rng = np.random.default_rng(seed)

    def items(size: int) -> tuple[Any, Any]:
        X = rng.normal(size=(size, 4)) * [1.6, 1.0, 1.0, 1.0]
        return X, (X[:, 0] > 0).astype(int)

    (X, y), new = items(400), items(4000)
    seen = (X[:, 0] > 0.5).astype(int)
    pairs = sample_pairs(seen, 10 * len(y), PairingNoise(0.15, 0.15), random_state=as_seed(rng))
    return Problem(X, pairs, y, {"n_classes": 2}, new)


def misread_items(seed: int) -> Problem:
    """Misread 8 of 120 items every time, as a program does; 5 % of other answers are wrong.

    No pair is asked twice.
    """
    rng = np.random.default_rng(seed)
    means = np.outer([-1, 1], [1.5, 0.0, 0.0, 0.0])
    X, y = gaussian_items(means, 120, rng)
    seen = y.copy()
    seen[rng.choice(120, 8, replace=False)] ^= 1
    left, right = np.triu_indices(120, 1)
    asked = rng.choice(len(left), 20 * 120, replace=False)
    left, right = left[asked], right[asked]
    same = (seen[left] == seen[right]) ^ (rng.random(len(asked)) < 0.05)
    pairs = Pairs(left, right, same, 120, annotator=np.full(len(asked), "program"))
    return Problem(X, pairs, y, {"n_classes": 2}, gaussian_items(means, 4000, rng))


# --- no classes at all ---------------------------------------------------------------------------


def scale(seed: int, n_columns: int) -> Problem:
    """P(same) = exp(−d²), d the distance in all columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, n_columns))
    left, right = random_questions(300, 12 * 300, rng)
    chance = np.exp(-((X[left] - X[right]) ** 2).sum(axis=1))
    pairs = Pairs(left, right, rng.random(len(left)) < chance, 300)
    return Problem(X, pairs, None, {"n_classes": "auto"})


def item_effects(seed: int) -> Problem:
    """P(same) = σ(u + u'): some items get more "same", as the first column partly predicts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    effect = 1.5 * X[:, 0] + 0.5 * rng.normal(size=300)
    left, right = random_questions(300, 12 * 300, rng)
    pairs = Pairs(left, right, rng.random(len(left)) < expit(effect[left] + effect[right]), 300)
    return Problem(X, pairs, None, {"n_classes": "auto"})


# --- people --------------------------------------------------------------------------------------

#: Of 20 people, the first 12 answer about another attribute.
N_PEOPLE, N_OTHER_QUESTION = 20, 12


def two_questions(seed: int) -> Problem:
    """Three classes of interest, three of another attribute that 60 % of the people look at."""
    rng = np.random.default_rng(seed)
    means, other_means = random_means(3, 4, 1.6, rng), random_means(3, 4, 1.6, rng)

    def items(size: int) -> tuple[Any, Any, Any]:
        (A, y), (B, other) = (
            gaussian_items(means, size, rng),
            gaussian_items(other_means, size, rng),
        )
        return np.hstack([A, B]), y, other

    X, y, other = items(300)
    left, right = random_questions(300, 12 * 300, rng)
    who = rng.integers(N_PEOPLE, size=len(left))
    truly = np.where(who < N_OTHER_QUESTION, other[left] == other[right], y[left] == y[right])
    names = np.array([f"person {k:02d}" for k in range(N_PEOPLE)])
    wrong = rng.random(len(left)) < 0.1
    pairs = Pairs(left, right, truly ^ wrong, 300, annotator=names[who])
    return Problem(X, pairs, y, {"n_classes": 3}, items(3000)[:2])


def real_judges(seed: int, name: str, model: str = "") -> Problem:
    """28 language-model judges on the same pairs of products; a part of the pairs, by seed.

    ``y`` holds here whether each answer's pair is truly the same product, shape (n_pairs,).
    """
    said = pd.read_csv(real_data("judges") / f"llm_{name}_pairs.csv")
    said = said[said["judge"].str.startswith(model)]
    asked = said.groupby(["item_a", "item_b"]).ngroup()
    drawn = np.random.default_rng(seed).random(asked.max() + 1) < 0.8
    said = said[drawn[asked]]
    pairs = Pairs.from_ids(said["item_a"], said["item_b"], said["same"] == 1, said["judge"])
    return Problem(None, pairs, said["true_same"].to_numpy() == 1)


def simulated_judges(seed: int) -> Problem:
    """24 judges, four of each of six models, answer the same 1,000 pairs of records.

    The log-odds of an error are the sum of an effect of the pair, one of model and pair, and one of
    the judge. ``y`` as in `real_judges`.
    """
    rng = np.random.default_rng(seed)
    first = 2 * np.arange(1000)
    truly = rng.random(1000) < 0.2
    model = np.repeat(np.arange(6), 4)
    of_pair, of_model = 2.5 * rng.normal(size=1000), 2.5 * rng.normal(size=(6, 1000))
    odds = np.where(truly, -2.0, -4.5) + of_pair + of_model[model] + rng.normal(size=(24, 1))
    same = (truly ^ (rng.random(odds.shape) < expit(odds))).ravel()
    judge = np.repeat([f"model {m}, prompt {k % 4}" for k, m in enumerate(model)], 1000)
    pairs = Pairs(np.tile(first, 24), np.tile(first + 1, 24), same, 2000, annotator=judge)
    return Problem(None, pairs, np.tile(truly, 24))


# --- labels, coding, questions, rows -------------------------------------------------------------


def few_labels(seed: int, n_pairs: int) -> Problem:
    """Three overlapping classes, 60 labels, few answers, 30 % of them wrong."""
    rng = np.random.default_rng(seed)
    means = random_means(3, 6, 1.0, np.random.default_rng(5))
    (X, y), new = gaussian_items(means, 400, rng, 1.5), gaussian_items(means, 4000, rng, 1.5)
    pairs = sample_pairs(y, n_pairs, PairingNoise(0.3, 0.3), random_state=as_seed(rng))
    return Problem(X, with_some_labels(pairs, y, 60, rng), y, {"n_classes": 3}, new)


def swapped_coding(seed: int, n_classes: int) -> Problem:
    """85 % of the answers say the opposite of the truth."""
    rng = np.random.default_rng(seed)
    means = random_means(n_classes, 4, 2.0, rng)
    X, y = gaussian_items(means, 300, rng)
    left, right = random_questions(300, 3000, rng)
    same = (y[left] == y[right]) ^ (rng.random(3000) < 0.85)
    pairs = Pairs(left, right, same, 300)
    return Problem(X, pairs, y, {"n_classes": n_classes}, gaussian_items(means, 3000, rng))


def near_neighbours(seed: int, shape: str) -> Problem:
    """Every item is compared with its six nearest neighbours only; 10 % of the answers are wrong.

    "moons" are two half circles. "Gaussians" are four, of which the diagonal ones are one class.
    """
    rng = np.random.default_rng(seed)

    def items(size: int) -> tuple[Any, Any]:
        if shape == "moons":
            return make_moons(size, noise=0.15, random_state=as_seed(rng))
        X, corner = gaussian_items(4.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), size, rng)
        return X, np.array([0, 1, 1, 0])[corner]

    X, y = items(300)
    near = NearestNeighbors(n_neighbors=7).fit(X).kneighbors(X, return_distance=False)
    left, right = np.repeat(np.arange(300), 6), near[:, 1:].ravel()
    same = (y[left] == y[right]) ^ (rng.random(len(left)) < 0.1)
    return Problem(X, Pairs(left, right, same, 300), y, {"n_classes": 2}, items(4000))


def unaligned_rows(seed: int) -> Problem:
    """Pairs know the ids of the items; the table of items is sorted after they were made."""
    rng = np.random.default_rng(seed)
    X, y = gaussian_items(np.outer([-1, 1], [1.6, 0.0, 0.0, 0.0]), 300, rng)
    ids = pd.Index([f"item {k:04d}" for k in rng.permutation(3000)[:300]])
    table, truth = pd.DataFrame(X, index=ids, columns=list("abcd")), pd.Series(y, index=ids)
    drawn = sample_pairs(y, 8 * 300, PairingNoise(0.2, 0.2), random_state=as_seed(rng))
    answers = {"left": ids[drawn.left], "right": ids[drawn.right], "same": drawn.same}
    pairs = Pairs.from_frame(pd.DataFrame(answers), items=table.index)
    table = table.sort_index()
    return Problem(table, pairs, truth[table.index].to_numpy(), {"n_classes": 2})


def the_sample(seed: int) -> Problem:
    """Stand for the files that ``noisypairs sample`` writes, which the command reads itself."""
    return Problem(None, None, None, {"seed": seed})  # type: ignore[arg-type]


# --- plain problems ------------------------------------------------------------------------------


def plain(seed: int) -> Problem:
    """Nothing is wrong: 2 to 6 classes, 4 to 20 answers per item, and noise of the paper.

    Half of the problems give the number of classes; half have named people, who differ in skill
    under pairing noise.
    """
    rng = np.random.default_rng([seed, 200])
    n_classes, density = 2 + seed % 5, int(rng.integers(4, 21))
    is_labeling, number_given, has_people = rng.random(3) < 0.5
    means = random_means(n_classes, 6, 1.55, rng)
    X, y = gaussian_items(means, 240, rng)
    left, right = random_questions(240, density * 240, rng)
    who = rng.integers(12, size=len(left))
    if is_labeling:
        wrong = rng.uniform(0.05, 0.15)
        flip = (1 - wrong) * np.eye(n_classes) + wrong / (n_classes - 1) * (1 - np.eye(n_classes))
        same = LabelingNoise(flip=flip).corrupt(
            y, left, right, n_classes=n_classes, random_state=as_seed(rng)
        )
    else:
        skill = np.linspace(0.5, 1.5, 12)[who] if has_people else 1.0
        truly = y[left] == y[right]
        same = truly ^ (
            rng.random(len(left)) < skill * np.where(truly, *rng.uniform(0.05, 0.25, 2))
        )
    names = np.array([f"person {k:02d}" for k in range(12)])
    pairs = Pairs(left, right, same, 240, annotator=names[who] if has_people else None)
    number = {"n_classes": n_classes if number_given else "auto"}
    return Problem(X, pairs, y, number, gaussian_items(means, 3000, rng))


# --- the table -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trap:
    """One row: what it is called in the table, its problems by name, and seeds of each.

    ``measure`` names the function of `traps.py` that tries it. ``data`` is a folder of
    NOISYPAIRS_DATA without which it is skipped.
    """

    title: str
    problems: Mapping[str, Draw]
    n_seeds: int = 3
    measure: str = "fits"
    data: str | None = None


def real_data(folder: str) -> Path:
    """Return a folder of real answers."""
    return Path(os.environ["NOISYPAIRS_DATA"]) / folder


def is_missing(folder: str | None) -> bool:
    """Whether real answers are needed that are not there."""
    if folder is None:
        return False
    return "NOISYPAIRS_DATA" not in os.environ or not real_data(folder).is_dir()


def variants(draw: Callable[..., Problem], **settings: Mapping[str, Any]) -> dict[str, Draw]:
    """Return the problems of one function under several settings, by name."""
    return {name: partial(draw, **given) for name, given in settings.items()}


_MANY_DIGITS = {
    f"digits, K = {K}": partial(confused_digits, digits=tuple(range(K))) for K in (4, 5, 6, 7)
}
_OTHER_CONFUSED: dict[str, Draw] = {
    "Gaussian classes": confused_gaussians,
    "digits, 3 and 8": partial(confused_digits, digits=(1, 3, 4, 8, 9), confused=(1, 3)),
    "sparse counts": confused_counts,
    "three confused": three_confused,
    "one-sided": one_sided,
}
_COPIES = {"exact": {"noise": 0.0}, "noise .3": {"noise": 0.3}}
_LABELLED_COPIES = {name: given | {"n_labels": 40} for name, given in _COPIES.items()}
_SPECIES = {"simulated": {"n_labels": 0}, "simulated, 30 labels": {"n_labels": 30}}
_JUDGES = {
    "abt-buy": {"name": "abt_buy"},
    "amazon-google": {"name": "amazon_google"},
    "abt-buy, one model": {"name": "abt_buy", "model": "gpt"},
}

_CONFUSED = Trap("two classes that people confuse", _MANY_DIGITS, 2)
_PEOPLE = Trap("people cannot tell two species apart", variants(five_species, **_SPECIES))
_JUDGE = Trap("judges who err together", {"simulated": simulated_judges}, measure="judges")

#: Every trap by the name that ``--rows`` takes; a row may be several traps with one title.
TRAPS: dict[str, tuple[Trap, ...]] = {
    "confused": (_CONFUSED, replace(_CONFUSED, problems=_OTHER_CONFUSED, n_seeds=1)),
    "many": (Trap("many classes, number open", {"25 Gaussian classes": many_classes}),),
    "copies": (Trap("the same item several times", variants(copies, **_COPIES)),),
    "copies-labels": (Trap("the same, 40 labels given", variants(copies, **_LABELLED_COPIES)),),
    "people": (
        _PEOPLE,
        replace(_PEOPLE, problems={"12 of 20 birds": twelve_birds}, data="crowd_birds20"),
    ),
    "boundary": (Trap("everybody errs alike near the boundary", {"a line": boundary}),),
    "scale": (
        Trap(
            "no classes: a scale",
            variants(scale, **{"one column": {"n_columns": 1}, "two columns": {"n_columns": 2}}),
        ),
    ),
    "effects": (Trap("no classes: items with more “same”", {"one effect": item_effects}),),
    "questions": (Trap("two questions", {"60 % another": two_questions}, measure="questions"),),
    "misread": (
        Trap("one program that errs alike", {"8 of 120": misread_items}, measure="asking"),
    ),
    "judges": (
        _JUDGE,
        replace(_JUDGE, problems=variants(real_judges, **_JUDGES), data="judges"),
    ),
    "few-labels": (
        Trap(
            "few labels, few pairs",
            {f"{n:,} pairs": partial(few_labels, n_pairs=n) for n in (200, 400, 800, 1600)},
            measure="labels",
        ),
    ),
    "swapped": (
        Trap(
            "swapped coding",
            {f"{K} classes": partial(swapped_coding, n_classes=K) for K in (2, 3)},
            measure="swapped",
        ),
    ),
    "neighbours": (
        Trap(
            "only near neighbours asked",
            {shape: partial(near_neighbours, shape=shape) for shape in ("moons", "Gaussians")},
            measure="neighbours",
        ),
    ),
    "unaligned": (Trap("unaligned rows", {"sorted": unaligned_rows}, measure="python_only"),),
    "machine": (Trap("another machine", {"the sample": the_sample}, measure="machine"),),
}
