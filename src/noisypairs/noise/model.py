"""What a noise model is, the models of any S, of two rates and of levels, and their registry.

``S[y, y'] = P("same" | classes y, y')`` is all that inference needs, so a new noise model is one
class: a new way to fill one matrix and, if it has a family name, to fit it to counted answers. All
fits carry a weak prior of `PSEUDO_ANSWERS` answers at the rate `PSEUDO_RATE`, which matters only
where data are very few.

Answers of several levels have a response table P(level | classes y, y'): one row of levels for
items of one class and one for items of two. Couples of classes have rows of their own, drawn around
these, as far as they differ beyond chance. With yes and no as the levels this is what the families
of S do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs import algebra
from noisypairs.algebra import Array, Formula
from noisypairs.errors import NotIdentifiable, did_you_mean
from noisypairs.pairs.levels import PLAIN, Scale

RandomState = int | np.random.Generator | np.random.RandomState | None

PSEUDO_ANSWERS, PSEUDO_RATE = 10.0, 0.2
#: Beta law of how often somebody slips: 5 %, as if 20 cases had shown it.
SLIPS = (1.0, 19.0)
#: Fitted rates stay this far from no information (ρ_S + ρ_D = 1) and from certainty.
MARGIN = 1e-3

#: Names that parameters called ``noise`` use in another sense.
_RESERVED = ("auto", "estimate", "given")
_FAMILIES: dict[str, type[NoiseModel]] = {}

#: What `family` may ask of a model, and what it means if the model does not define it.
Ability = Literal["fit", "from_rates"]
_WITHOUT: dict[str, str] = {
    "fit": "cannot be fitted to counted answers (it does not define fit). Pass noise= with known "
    "parameters instead",
    "from_rates": "is not given by two rates (it does not define from_rates)",
}


class NoiseModel(ABC):
    """A way for answers to go wrong, known by its matrix S.

    A subclass defines `same_probability`; everything else has a default that follows from S. With
    a family name, ``class MyNoise(NoiseModel, family="mine")``, learners find it as
    ``noise="mine"``; they can estimate it if it defines `fit`, and the point-wise ones if it
    defines `from_rates`. ``auto=True`` lets ``noise="auto"`` try it too.

    Examples
    --------
    >>> families()["free"] is MatrixNoise
    True
    >>> noise = MatrixNoise([[0.9, 0.3], [0.3, 0.6]])
    >>> noise.corrected_coefficients(0.2).sum(axis=1).round(12)  # all that follows from S is there
    array([1., 1.])
    """

    family: ClassVar[str | None] = None
    in_auto: ClassVar[bool] = False
    #: What can be answered.
    scale: Scale = PLAIN

    def __init_subclass__(
        cls, family: str | None = None, auto: bool = False, **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if family is not None:
            _register(cls, family)
            cls.family, cls.in_auto = family, auto

    @abstractmethod
    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S, shape (K, K): P("same" | classes y, y')."""

    @property
    def class_number(self) -> int | None:
        """How many classes this noise is about; None where it suits any number."""
        return None

    def response(self, n_classes: int = 2) -> Array:
        """Return P(level | classes y, y') of every level of the scale, shape (L, K, K)."""
        S = self.same_probability(n_classes)
        return np.stack([1.0 - S, S])

    def same_class(self, n_states: int) -> NDArray[np.bool_]:
        """Return which states are of one class, (n, n): by default states are classes."""
        return np.eye(n_states, dtype=bool)

    @classmethod
    def fit(cls, same_counts: Array, different_counts: Array) -> NoiseModel:
        """Fit to counted answers: the M-step for S.

        The counts, shape (K, K) each and symmetric, say how many answers of each kind were given
        to classes y, y'.
        """
        raise NotImplementedError(f"{cls.__name__} {_WITHOUT['fit']}")

    @classmethod
    def from_rates(cls, first: float, second: float) -> NoiseModel:
        """Build the model for two classes from two flip rates in [0, 1)."""
        raise NotImplementedError(f"{cls.__name__} {_WITHOUT['from_rates']}")

    @classmethod
    def n_parameters(cls, n_classes: int) -> int:
        """Return how many numbers are fitted: by default the entries of a symmetric S."""
        return n_classes * (n_classes + 1) // 2

    def permuted(self, order: ArrayLike) -> NoiseModel:
        """Return the noise after renumbering: class k is what was class ``order[k]``.

        By default the model itself if that leaves S unchanged, and a `MatrixNoise` otherwise.
        """
        order = np.asarray(order, dtype=np.intp)
        S = self.same_probability(len(order))
        permuted = S[np.ix_(order, order)]
        if np.array_equal(permuted, S):
            return self
        return MatrixNoise(tuple(map(tuple, permuted.tolist())))

    def require_renumbering(self, n_classes: int) -> None:
        """Raise a ValueError unless the family holds this noise with its classes in any order.

        Pairs alone cannot tell which class is number 0, so they cannot fit a family that treats
        that number differently. One swap and one rotation generate all orders.
        """
        swap, rotation = np.arange(n_classes), np.roll(np.arange(n_classes), 1)
        swap[:2] = 1, 0
        if not all(isinstance(self.permuted(order), type(self)) for order in (swap, rotation)):
            raise ValueError(
                f"{type(self).__name__} with its classes renumbered is another kind of noise, and "
                "pairs alone cannot tell which class has which number: label at least one item of "
                "every class, give noise=, or define permuted for this noise model"
            )

    def corrupt(
        self,
        y: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_classes: int | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.bool_]:
        """Draw an answer for every pair of items, given the true classes ``y`` in 0..K−1.

        Answers are independent given the classes: "same" with probability S[y_left, y_right].
        """
        classes = np.asarray(y, dtype=np.intp)
        K = max(2, int(classes.max(initial=0)) + 1) if n_classes is None else n_classes
        chance = self.same_probability(K)[classes[np.asarray(left)], classes[np.asarray(right)]]
        answers: NDArray[np.bool_] = (
            np.random.default_rng(random_state).random(chance.shape) < chance
        )
        return answers

    def __str__(self) -> str:
        """Return the parameters that were given, to three digits: for sentences.

        >>> from noisypairs import LabelingNoise
        >>> str(LabelingNoise(flip=((0.71359, 0.28641), (0.17962, 0.82038))))
        'LabelingNoise(flip=((0.714, 0.286), (0.18, 0.82)))'
        """
        if not is_dataclass(self):  # a user's own class
            return repr(self)
        given = [
            f"{one.name}={_rounded(value)}"
            for one in fields(self)
            if (value := getattr(self, one.name)) is not one.default and one.repr
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def corrected_coefficients(
        self, prior: float | ArrayLike, formula: Formula = "unbiased"
    ) -> Array:
        """Return the (2, 2) coefficients of the corrected loss, see `algebra`."""
        T = algebra.transition(self.same_probability(), prior)
        T = self.printed_transition(prior) if formula == "printed" else T
        return algebra.invert_transition(T, formula)

    def printed_transition(self, prior: float | ArrayLike) -> Array:
        """Return the paper's T as printed, shape (2, 2): right, except for labeling noise."""
        return algebra.transition(self.same_probability(), prior)

    def printed_threshold(self, prior: float | ArrayLike) -> float:
        """Return the threshold of Lemma 2 as printed: right, except for labeling noise."""
        return algebra.threshold(self.same_probability(), prior)

    def then(self, second: NoiseModel) -> ComposedNoise:
        """Return the noise of this one followed by pairing noise on its answers."""
        return second.after(self)

    def after(self, first: NoiseModel) -> ComposedNoise:  # noqa: ARG002 -- only pairing noise can
        """Return this noise on the answers of another one, where that has a meaning."""
        raise cannot_come_second(self)


def families(*, auto: bool = False) -> dict[str, type[NoiseModel]]:
    """Return the models that have a family, by name, those with fewest parameters first.

    ``auto`` leaves only those that ``noise="auto"`` compares; ties in likelihood go to the
    earlier one.

    >>> [(name, model.n_parameters(3)) for name, model in families(auto=True).items()]
    [('pairing', 2), ('labeling', 6), ('free', 6)]
    """

    def size(name: str) -> list[int]:
        return [_FAMILIES[name].n_parameters(n_classes) for n_classes in (2, 3)]

    names = sorted(_FAMILIES, key=size)
    return {name: _FAMILIES[name] for name in names if _FAMILIES[name].in_auto or not auto}


def family(name: str, needs: Ability = "fit", also: Iterable[str] = ()) -> type[NoiseModel]:
    """Return the model of a family if it defines what is needed.

    ``also`` are other names that the caller accepts, for the message.

    >>> family("free").__name__
    'MatrixNoise'
    >>> family("labelling")
    Traceback (most recent call last):
    ValueError: noise='labelling': did you mean 'labeling'? Known: ...
    """
    able = {key: one for key, one in _FAMILIES.items() if _defines(one, needs)}
    if isinstance(name, str) and name in able:
        return able[name]
    if not isinstance(name, str):
        raise ValueError(
            f"noise={name!r}: expected a noise model, such as PairingNoise(0.1, 0.2), or one of "
            f"{', '.join(sorted([*able, *also]))}"
        )
    reason = f"{_FAMILIES[name].__name__} {_WITHOUT[needs]}. " if name in _FAMILIES else ""
    raise ValueError(f"noise={name!r}: {reason}{did_you_mean(str(name), [*able, *also])}")


def cannot_come_second(noise: object) -> TypeError:
    """Return the error for a noise that cannot work on the answers of another one."""
    return TypeError(
        f"{type(noise).__name__} cannot come second: labels are reported before they are compared, "
        "so only pairing noise can follow another noise"
    )


def check_rates(**rates: float) -> None:
    """Raise an error unless all rates lie in [0, 1) and their sum is below one.

    >>> check_rates(similar_flip=0.1, dissimilar_flip=0.2)
    """
    for name, rate in rates.items():
        if not isinstance(rate, Real):
            raise TypeError(f"{name}={rate!r} is not a flip rate: expected a number in [0, 1)")
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"{name}={rate!r} is not a flip rate: expected a number in [0, 1)")
    if sum(rates.values()) >= 1.0:
        given = " + ".join(f"{name}={rate:g}" for name, rate in rates.items())
        raise NotIdentifiable(
            f"{given} is at least 1: such answers say nothing (at 1) or the opposite (above 1) of "
            "the truth. If they are reversed, exchange 'same' and 'different' first"
        )


def _register(model: type[NoiseModel], name: str) -> None:
    taken = _FAMILIES.get(name)
    again = taken is not None and _path(taken) == _path(model)  # its module or cell ran again
    if name in _RESERVED or (taken is not None and not again):
        owner = "has a meaning of its own" if taken is None else f"is that of {_path(taken)}"
        raise ValueError(f"family={name!r} {owner}: choose another name for {_path(model)}")
    _FAMILIES[name] = model


def _path(model: type) -> str:
    return f"{model.__module__}.{model.__qualname__}"


def _defines(model: type[NoiseModel], method: str) -> bool:
    own, default = getattr(model, method), getattr(NoiseModel, method)
    return own.__func__ is not default.__func__


def _rounded(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_rounded, value))})"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class MatrixNoise(NoiseModel, family="free", auto=True):
    """Any symmetric S, given whole, for when no simpler model fits the answers.

    Parameters
    ----------
    same : S, shape (K, K), symmetric, entries in [0, 1]; S[y, y'] = P("same" | classes y, y').

    Examples
    --------
    >>> MatrixNoise([[0.9, 0.3], [0.3, 0.6]]).same_probability()
    array([[0.9, 0.3],
           [0.3, 0.6]])
    """

    same: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        S = algebra.noise_matrix(self.same)
        object.__setattr__(self, "same", tuple(tuple(map(float, row)) for row in S))

    @property
    def class_number(self) -> int:
        """How many classes S has."""
        return len(self.same)

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S as it was given."""
        if self.class_number != n_classes:
            raise ValueError(
                f"S is given for {self.class_number} classes, but {n_classes} are needed"
            )
        return np.array(self.same)

    @classmethod
    def fit(cls, same_counts: Array, different_counts: Array) -> MatrixNoise:
        """Fit every entry of the symmetric S by its own share of "same" answers.

        Of more than two classes entries are shrunk to the mean of the diagonal and of the rest, as
        far as they do not differ beyond chance (`noise.shrinkage`).

        >>> same = np.array([[90.0, 20.0], [20.0, 60.0]])
        >>> MatrixNoise.fit(same, np.array([[10.0, 80.0], [80.0, 40.0]]))
        MatrixNoise(same=((0.89..., 0.2), (0.2, 0.61...)))
        """
        on = np.eye(len(same_counts), dtype=bool)
        prior = np.where(on, 1.0 - PSEUDO_RATE, PSEUDO_RATE)
        answers = np.full_like(prior, PSEUDO_ANSWERS)
        if len(prior) > 2:
            prior, answers = _shared(same_counts, different_counts)
            answers = np.where(on, answers, answers / 2)  # (y, y') and (y', y) have half each
        total = same_counts + different_counts + answers
        S = (same_counts + answers * prior) / total
        S = np.clip((S + S.T) / 2, MARGIN, 1 - MARGIN)
        return MatrixNoise(tuple(map(tuple, S.tolist())))


def _shared(same: Array, different: Array) -> tuple[Array, Array]:
    """Return what entries share, (K, K) each: their mean rate, and how many answers it is worth.

    One mean for the diagonal and one beside it; `strength` follows from the spread between entries.
    An entry beside the diagonal has the answers of (y, y') and of (y', y).
    """
    on = np.eye(len(same), dtype=bool)
    mean, answers = np.empty(same.shape), np.empty(same.shape)
    for level, of_prior, times in ((on, 1.0 - PSEUDO_RATE, 1.0), (~on, PSEUDO_RATE, 2.0)):
        said, total = times * same[level], times * (same + different)[level]
        share = (said.sum() + PSEUDO_ANSWERS * of_prior) / (total.sum() + PSEUDO_ANSWERS)
        mean[level], answers[level] = share, strength(said, total, float(share))
    return mean, answers


def group_errors(same: Array, different: Array) -> tuple[Array, Array]:
    """Return (wrong, total), shape (2, R) each: row 0 on truly same, row 1 on different pairs.

    >>> group_errors(np.ones((1, 2, 2)), np.zeros((1, 2, 2)))[0].tolist()
    [[0.0], [2.0]]
    """
    diagonal = np.eye(same.shape[1], dtype=bool)
    wrong = np.stack([different[:, diagonal].sum(axis=1), same[:, ~diagonal].sum(axis=1)])
    both = same + different
    return wrong, np.stack([both[:, diagonal].sum(axis=1), both[:, ~diagonal].sum(axis=1)])


def strength(wrong: Array, total: Array, mean: float) -> float:
    """Return how many answers the crowd's rate is worth against a group's own, in [2, 200].

    >>> strength(np.array([1.0, 1.0]), np.array([10.0, 10.0]), 0.1)
    200.0
    """
    return level_strength(np.stack([total - wrong, wrong]), np.array([1.0 - mean, mean]))


def level_strength(counts: Array, mean: Array) -> float:
    """Return the same for answers of L levels, counted (L, n_groups), with shares ``mean`` (L,).

    Shares of groups that are drawn around the mean with strength m vary by mean (1 − mean)/(m + 1).

    >>> level_strength(np.array([[9.0, 9.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0.9, 0.05, 0.05]))
    200.0
    """
    total, by_chance = counts.sum(axis=0), float((mean * (1 - mean)).sum())
    spread = float(((counts - mean[:, None] * total) ** 2).sum()) - by_chance * float(total.sum())
    beyond = spread / max(float((total**2 - total).clip(0).sum()), 1e-9)
    if beyond <= 0:
        return 200.0
    return float(np.clip(by_chance / beyond - 1.0, 2.0, 200.0))


@dataclass(frozen=True)
class PairingNoise(NoiseModel, family="pairing", auto=True):
    """The annotator errs on the pair: P("different" | same) = ρ_S, P("same" | different) = ρ_D.

    S = 1 − ρ_S on the diagonal, ρ_D off it.

    Parameters
    ----------
    similar_flip : ρ_S, how often a pair of one class is called "different".
    dissimilar_flip : ρ_D, how often a pair of two classes is called "same". The two sum to less
        than 1: at 1 the answers would say nothing.

    Examples
    --------
    >>> PairingNoise(0.1, 0.2).same_probability()
    array([[0.9, 0.2],
           [0.2, 0.9]])
    """

    similar_flip: float
    dissimilar_flip: float

    def __post_init__(self) -> None:
        check_rates(similar_flip=self.similar_flip, dissimilar_flip=self.dissimilar_flip)

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S, shape (K, K): 1 − ρ_S on the diagonal, ρ_D off it."""
        return algebra.compose(np.eye(n_classes), self.similar_flip, self.dissimilar_flip)

    @classmethod
    def fit(cls, same_counts: Array, different_counts: Array) -> PairingNoise:
        """Fit ρ_S to the diagonal and ρ_D to the rest: shares of wrong answers.

        >>> same = np.array([[800.0, 0.0], [0.0, 80.0]])
        >>> PairingNoise.fit(same, np.array([[80.0, 1e3], [1e3, 30.0]]))
        PairingNoise(similar_flip=0.112, dissimilar_flip=0.001)
        """
        diagonal = np.eye(len(same_counts), dtype=bool)
        similar = _rate(different_counts[diagonal].sum(), same_counts[diagonal].sum())
        dissimilar = _rate(same_counts[~diagonal].sum(), different_counts[~diagonal].sum())
        similar, dissimilar = max(similar, MARGIN), max(dissimilar, MARGIN)
        shrink = min(1.0, (1.0 - 2 * MARGIN) / (similar + dissimilar))
        return PairingNoise(float(similar * shrink), float(dissimilar * shrink))

    @classmethod
    def from_rates(cls, first: float, second: float) -> PairingNoise:
        """Build the model from ρ_S and ρ_D."""
        return PairingNoise(first, second)

    @classmethod
    def n_parameters(cls, n_classes: int) -> int:
        """Return 2, whatever the number of classes (for one class S has a single entry)."""
        return min(2, super().n_parameters(n_classes))

    def after(self, first: NoiseModel) -> ComposedNoise:
        """Return this noise on the answers of another one."""
        return ComposedNoise(first, self)


@dataclass(frozen=True)
class CleanPairs(PairingNoise):
    """Every answer is true: S = I.

    >>> CleanPairs().same_probability(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    similar_flip: float = field(default=0.0, init=False, repr=False)
    dissimilar_flip: float = field(default=0.0, init=False, repr=False)


@dataclass(frozen=True)
class ComposedNoise(NoiseModel):
    """One noise, then pairing noise on its answers: S' = (1−ρ_S) S + ρ_D (1−S).

    Parameters
    ----------
    first : any noise model, with the matrix S.
    second : `PairingNoise`, with ρ_S and ρ_D. ``first.then(second)`` builds the same.

    Examples
    --------
    >>> from noisypairs import LabelingNoise
    >>> LabelingNoise(0.1, 0.2).then(PairingNoise(0.1, 0.0)).same_probability().round(3)
    array([[0.612, 0.234],
           [0.234, 0.738]])
    """

    first: NoiseModel
    second: PairingNoise

    def __post_init__(self) -> None:
        if not isinstance(self.second, PairingNoise):
            raise cannot_come_second(self.second)

    @property
    def class_number(self) -> int | None:
        """How many classes the first noise is about."""
        return self.first.class_number

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S', shape (K, K)."""
        return algebra.compose(
            self.first.same_probability(n_classes),
            self.second.similar_flip,
            self.second.dissimilar_flip,
        )

    def corrupt(
        self,
        y: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_classes: int | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.bool_]:
        """Draw the first model's answers, then flip them by the rates of the second."""
        rng = np.random.default_rng(random_state)
        answers = self.first.corrupt(y, left, right, n_classes, rng)
        keep = np.where(answers, 1.0 - self.second.similar_flip, self.second.dissimilar_flip)
        flipped: NDArray[np.bool_] = rng.random(keep.shape) < keep
        return flipped

    def permuted(self, order: ArrayLike) -> ComposedNoise:
        """Return the noise with the classes of the first model renumbered."""
        return ComposedNoise(self.first.permuted(order), self.second)


def _rate(wrong: float, right: float) -> float:
    return float((wrong + PSEUDO_ANSWERS * PSEUDO_RATE) / (wrong + right + PSEUDO_ANSWERS))


@dataclass(frozen=True)
class LevelNoise(NoiseModel):
    """Any response table of a scale.

    Parameters
    ----------
    levels : P(level | y, y'), shape (L, K, K), symmetric in the classes, levels sum to one.
    scale : what the levels are called, unsure last where it is one of them.

    Examples
    --------
    >>> scale = Scale(("no", "partly", "yes"), same_from=2)
    >>> one, two = np.array([0.1, 0.3, 0.6]), np.array([0.7, 0.2, 0.1])
    >>> noise = LevelNoise(np.where(np.eye(2), one[:, None, None], two[:, None, None]), scale)
    >>> noise.same_probability().round(2).tolist()
    [[0.6, 0.1], [0.1, 0.6]]
    """

    levels: tuple[tuple[tuple[float, ...], ...], ...] | Array
    scale: Scale = field(default=PLAIN)

    def __post_init__(self) -> None:
        table = np.asarray(self.levels, dtype=np.float64)
        if table.ndim != 3 or table.shape[1] != table.shape[2]:
            raise ValueError(f"levels has shape {table.shape}, expected (L, K, K)")
        if len(table) != self.scale.n_levels:
            raise ValueError(f"levels has {len(table)} tables, but the scale is {self.scale}")
        if not np.allclose(table, table.swapaxes(1, 2), atol=1e-9) or table.min() < 0:
            raise ValueError("levels must be symmetric in the classes and not negative")
        if not np.allclose(table.sum(axis=0), 1.0, atol=1e-6):
            raise ValueError("levels must sum to one for every couple of classes")
        plain = tuple(tuple(map(tuple, level)) for level in table.tolist())
        object.__setattr__(self, "levels", plain)

    @property
    def class_number(self) -> int:
        """How many classes the table has."""
        return len(self.levels[0])

    def response(self, n_classes: int = 2) -> Array:
        """Return the table as it was given, (L, K, K)."""
        table = np.array(self.levels)
        if self.class_number != n_classes:
            raise ValueError(
                f"levels are given for {self.class_number} classes, but {n_classes} are needed"
            )
        return table

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return P(a level that counts as "same" | y, y'), among answers that are not unsure."""
        return same_view(self.response(n_classes), self.scale)

    def permuted(self, order: ArrayLike) -> LevelNoise:
        """Return the table with class ``order[k]`` as number k."""
        at = np.asarray(order, dtype=np.intp)
        table = self.response(len(at))[:, at][:, :, at]
        return LevelNoise(table, self.scale)

    def draw_levels(
        self,
        y: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_classes: int | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.int8]:
        """Draw the level of an answer for every pair of items, given the true classes ``y``."""
        classes = np.asarray(y, dtype=np.intp)
        K = max(2, int(classes.max(initial=0)) + 1) if n_classes is None else n_classes
        table = self.response(K)[:, classes[np.asarray(left)], classes[np.asarray(right)]]
        below = np.cumsum(table, axis=0)[:-1]
        draw = np.random.default_rng(random_state).random(table.shape[1])
        level: NDArray[np.int8] = (draw > below).sum(axis=0).astype(np.int8)
        return level


def same_view(response: Array, scale: Scale) -> Array:
    """Return P("same" | decided), (…, K, K), from P(level), (…, L, K, K)."""
    same, different = (
        response[..., which, :, :].sum(axis=-3)
        for which in (scale.same_levels, scale.different_levels)
    )
    return np.asarray(same if scale.unsure is None else same / (same + different))


def fit_table(name: str, counts: Array, scale: Scale) -> NoiseModel:
    """Fit the response table of a family to answers counted by level and classes, (L, K, K).

    >>> counts = np.array([[[1.0, 40.0], [40.0, 1.0]], [[9.0, 10.0], [10.0, 9.0]]])
    >>> print(fit_table("pairing", counts, PLAIN))
    PairingNoise(similar_flip=0.133, dissimilar_flip=0.2)
    """
    if scale.is_plain:
        return family(name).fit(counts[1], counts[0])
    on = np.eye(counts.shape[1], dtype=bool)
    levels = np.empty(counts.shape)
    for kind in (on, ~on):
        first = level_prior(scale, one_class=kind is on)
        own = counts[:, kind]
        total = own.sum(axis=1)
        mean = (total + PSEUDO_ANSWERS * first) / (total.sum() + PSEUDO_ANSWERS)
        levels[:, kind] = mean[:, None]
        if name != "pairing":
            times = 1.0 if kind is on else 2.0  # (y, y') and (y', y) are one entry
            weight = level_strength(times * own, mean) / times
            levels[:, kind] = (own + weight * mean[:, None]) / (own.sum(axis=0) + weight)
    levels = np.maximum((levels + levels.swapaxes(1, 2)) / 2, MARGIN)
    return LevelNoise(levels / levels.sum(axis=0), scale)


def level_prior(scale: Scale, one_class: bool) -> Array:
    """Return the shares of levels that a pair of one class, or of two, has before any answer, (L,).

    Odds change evenly from level to level; of two levels the wrong one has `PSEUDO_RATE`.
    """
    odds = (PSEUDO_RATE / (1.0 - PSEUDO_RATE)) ** np.linspace(0.0, 1.0, scale.n_ordered)
    share = (odds[::-1] if one_class else odds) / odds.sum()
    if scale.unsure is None:
        return np.asarray(share)
    return np.append(share * (1.0 - PSEUDO_RATE / 2), PSEUDO_RATE / 2)
