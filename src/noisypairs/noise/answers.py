"""How people answer: a table between classes, and parts whose strength is learnt.

    log-odds of "same" by person r about (i, j) = θ[z_i, z_j] + b_r + a_r (1[z_i = z_j] − ½) + …

The table θ belongs to a noise model, such as two rates or a shrunk matrix; of answers on a scale it
has a row for every level. A `Part` is everything
beyond it: people who differ, items that nobody recognises, an error that a pair makes everybody
commit, answers that follow looks. A part is one object with its parameters, its M-step and what it
changes in the chance of an answer. Its strength is learnt with the rest, and a part of strength
zero is left out. Adding a part means writing one subclass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from noisypairs.algebra import Array
from noisypairs.noise.labeling import LabelingNoise
from noisypairs.noise.model import (
    LevelNoise,
    MatrixNoise,
    NoiseModel,
    PairingNoise,
    fit_table,
    same_view,
)
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.levels import Scale
from noisypairs.pairs.pairs import levels_of

if TYPE_CHECKING:
    from noisypairs.graph.propagation import Beliefs, PairGraph

#: Answers of each couple of classes from which an average matrix is turned into flips.
MANY_ANSWERS = 1e6

#: All parts by name, in the order in which their effects are applied.
PARTS: dict[str, type[Part]] = {}


@dataclass(frozen=True, eq=False)
class Expectation:
    """What an E-step found: beliefs about the states of items, and answers counted by state.

    ``graph`` has the weights that answers had, and is None where they are streamed; ``counts``
    (R, L, Q, Q) count the states behind the answers of every group, such as a person, by level;
    ``responses`` (R or 1, L, Q, Q) is the response table, and ``phi`` (n_items, K) P(class | x).
    """

    graph: PairGraph | None
    beliefs: Beliefs
    responses: Array
    phi: Array
    counts: Array


class Part:
    """One part of the answer model; by default it changes nothing.

    ``joins`` says from when on the part is there: from the first start ("search"), from the last
    rounds on, when the classes are found, or "afterwards", to predict answers and move no class.
    """

    name: ClassVar[str]
    joins: ClassVar[Literal["search", "last rounds", "afterwards"]] = "last rounds"
    n_states: ClassVar[int] = 0  # states beside the classes

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Enter a part that has a name."""
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            PARTS[cls.name] = cls

    @classmethod
    def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
        """Return the part to start EM from, or None where such data cannot show it.

        ``seen`` is what was found without the part; None before the first start.
        """
        raise NotImplementedError

    @property
    def strength(self) -> float:
        """How much the part changes answers; zero where it is not there."""
        raise NotImplementedError

    def fit(self, seen: Expectation, table: Array) -> Self:
        """Return the part after an M-step, given the response table of the classes, (L, K, K)."""
        raise NotImplementedError

    def expand_response(self, response: Array) -> Array:
        """Return the response table of all states, (L, Q, Q), from that of the classes."""
        return response

    def expand_proba(self, phi: Array) -> Array:
        """Return P(state) of items from P(class), (n, K)."""
        return phi

    def collapse(self, states: Array, phi: Array) -> Array:
        """Return P(class), (n, K), from P(state), (n, Q), and P(class | x)."""
        del phi
        return states

    def by_group(self, response: Array, alike: Array) -> Array:
        """Return the table of every group, (R, L, Q, Q); ``alike`` (Q, Q): of one class."""
        del alike
        return response

    def reweighted(self, graph: PairGraph) -> PairGraph:
        """Return the graph with the weights that answers have under this part."""
        return graph

    def class_response(self, response: Array) -> Array:
        """Return the table of the classes, (L, K, K), averaged over what the part adds."""
        return response


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """The table between K classes, its family, and the parts that are there.

    The family ``"given"`` leaves the table as it is.
    """

    table: NoiseModel
    family: str
    n_classes: int
    parts: tuple[Part, ...] = ()

    @property
    def S(self) -> Array:
        """S of the classes, (K, K), without parts."""
        return self.table.same_probability(self.n_classes)

    @property
    def scale(self) -> Scale:
        """What can be answered."""
        return self.table.scale

    @property
    def alike(self) -> Array:
        """Which states are of one class, (Q, Q); an added state is of no class."""
        alike = np.zeros((self.n_states, self.n_states))
        alike[: self.n_classes, : self.n_classes] = np.eye(self.n_classes)
        return alike

    @property
    def n_states(self) -> int:
        """K and the states that parts add."""
        return self.n_classes + sum(part.n_states for part in self.parts)

    def responses(self) -> Array:
        """Return the response table of all states, (1, L, Q, Q), or (R, …) where people differ."""
        response = self.table.response(self.n_classes)
        for part in self.parts:
            response = part.expand_response(response)
        for part in self.parts:
            response = part.by_group(response, self.alike)
        return response if response.ndim == 4 else response[None]

    def matrices(self) -> Array:
        """Return S of all states, (Q, Q), or (R, Q, Q) where people differ."""
        S = same_view(self.responses(), self.scale)
        return S[0] if len(S) == 1 else S

    def states(self, phi: Array) -> Array:
        """Return P(state) of items, (n, Q), from P(class), (n, K)."""
        for part in self.parts:
            phi = part.expand_proba(phi)
        return phi

    def classes(self, states: Array, phi: Array) -> Array:
        """Return P(class), (n, K), from P(state), (n, Q)."""
        for part in reversed(self.parts):
            states = part.collapse(states, phi)
        return states

    def reweighted(self, graph: PairGraph) -> PairGraph:
        """Return the graph with the weights that answers have under the parts."""
        for part in self.parts:
            graph = part.reweighted(graph)
        return graph

    def fitted(self, seen: Expectation) -> AnswerModel:
        """Return the model after an M-step: first the table, then every part."""
        K, table = self.n_classes, self.table
        if self.family != "given":
            table = fit_table(self.family, seen.counts.sum(axis=0)[:, :K, :K], self.scale)
        response = table.response(K)
        parts = tuple(part.fit(seen, response) for part in self.parts)
        return replace(self, table=table, parts=parts)

    def part(self, name: str) -> Any:
        """Return the part of this name, or None."""
        return next((part for part in self.parts if part.name == name), None)

    def with_parts(self, *parts: Part | None) -> AnswerModel:
        """Return the model with more parts, those of strength zero left out."""
        order = list(PARTS)
        new = {part.name: part for part in (*self.parts, *parts) if part is not None}
        there = [part for part in new.values() if part.strength > 0]
        return replace(self, parts=tuple(sorted(there, key=lambda part: order.index(part.name))))

    def without(self, *names: str) -> AnswerModel:
        """Return the model without the parts of these names."""
        return replace(self, parts=tuple(p for p in self.parts if p.name not in names))

    def average_response(self) -> Array:
        """Return the table of the classes, (L, K, K), averaged over what parts add."""
        response = self.table.response(self.n_classes)
        for part in self.parts:
            response = part.class_response(response)
        return response

    def crowd_noise(self) -> NoiseModel:
        """Return the noise of an average answer: the table, averaged over what parts add.

        A given table is returned as it is.
        """
        response = self.average_response()
        if self.family == "given" or np.array_equal(response, self.table.response(self.n_classes)):
            return self.table
        if not self.scale.is_plain:
            return LevelNoise(response, self.scale)
        S = response[1]
        if isinstance(self.table, PairingNoise):
            return PairingNoise(1.0 - float(S[0, 0]), float(S[0, 1]))
        if isinstance(self.table, LabelingNoise):  # the nearest flips
            return LabelingNoise.fit(MANY_ANSWERS * S, MANY_ANSWERS * (1.0 - S))
        return MatrixNoise(tuple(map(tuple, S.tolist())))

    def permuted(self, order: NDArray[np.intp]) -> AnswerModel:
        """Return the model with class ``order[k]`` as number k."""
        return replace(self, table=self.table.permuted(order))


def log_chance(
    model: AnswerModel, states: Array, pairs: Pairs, names: NDArray[Any] | None
) -> Array:
    """Return log P(the level that was answered), shape (n_pairs,), from P(state) of items."""
    responses = np.concatenate([model.responses(), model.without("people").responses()])
    who = _who(model, pairs, names, len(responses) - 1)
    left, right, level = states[pairs.left], states[pairs.right], levels_of(pairs)
    chance = np.empty(pairs.n_pairs)
    for rows in _runs(who * model.scale.n_levels + level):
        table = responses[who[rows[0]], level[rows[0]]]
        chance[rows] = np.einsum("nk,nk->n", left[rows] @ table, right[rows])
    return np.asarray(np.log(np.clip(chance, 1e-9, 1.0 - 1e-9)))


def expected_log_chance(model: AnswerModel, states: Array, pairs: Pairs) -> float:
    """Return the log-likelihood of answers that the crowd would reach if all states were known.

    ``states`` (n_items, Q) are what is believed of them: the sum is Σ P(z, z') Σ_l p_l log p_l.
    """
    response = np.clip(model.without("people").responses()[0], 1e-12, 1.0)
    certain = (response * np.log(response)).sum(axis=0)
    left, right = states[pairs.left], states[pairs.right]
    return float(np.einsum("nk,nk->n", left @ certain, right) @ weights_of(pairs))


def _runs(key: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the positions of equal keys, one array for each."""
    order = np.argsort(key, kind="stable")
    runs = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
    return [rows for rows in runs if rows.size]


def chance_of_same(
    model: AnswerModel, states: Array, pairs: Pairs, names: NDArray[Any] | None, X: Any = None
) -> Array:
    """Return P("same") of every answer, shape (n_pairs,), from P(state) of items, (n_items, Q).

    ``names`` (R,) are the people whom the model knows; anybody else answers like the crowd. ``X``
    are the items' features, for a model with similarity.
    """
    alike, different = class_chances(model, states, pairs, names)
    similarity = model.part("similarity")
    if similarity is None or X is None:
        chance = alike[0] * alike[1] + different[0] * different[1]
    else:
        looks = similarity.slope * similarity.likeness(X, pairs.left, pairs.right)
        shifted = [
            1.0 / (1.0 + np.exp(-(log_odds(rate) + shift + looks)))
            for (_, rate), shift in zip((different, alike), similarity.shift, strict=True)
        ]
        chance = different[0] * shifted[0] + alike[0] * shifted[1]
    return np.clip(chance, 1e-9, 1.0 - 1e-9)


def class_chances(
    model: AnswerModel, states: Array, pairs: Pairs, names: NDArray[Any] | None
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return (P, P("same")) of every answer's items if of one class, and if of two, (n_pairs,)."""
    S, alike = model.matrices(), model.alike
    crowd = model.without("people").matrices()
    S = np.concatenate([S, crowd[None]]) if S.ndim == 3 else crowd[None]
    who = _who(model, pairs, names, len(S) - 1)
    left, right = states[pairs.left], states[pairs.right]
    one_class = np.einsum("nk,nk->n", left @ alike, right)
    same = np.empty(pairs.n_pairs)
    both = np.empty(pairs.n_pairs)
    for rows in _runs(who):
        own = S[who[rows[0]]]
        both[rows] = np.einsum("nk,nk->n", left[rows] @ (own * alike), right[rows])
        same[rows] = np.einsum("nk,nk->n", left[rows] @ own, right[rows])
    two = np.maximum(1.0 - one_class, 0.0)
    rate_one = both / np.maximum(one_class, 1e-12)
    rate_two = np.clip((same - both) / np.maximum(two, 1e-12), 0.0, 1.0)
    return (one_class, np.clip(rate_one, 0.0, 1.0)), (two, rate_two)


def _who(
    model: AnswerModel, pairs: Pairs, names: NDArray[Any] | None, unknown: int
) -> NDArray[np.intp]:
    """Return the position of each answer's person among the names, ``unknown`` for others."""
    if (
        names is None
        or model.part("people") is None
        or pairs.annotator is None
        or pairs.annotator_names is None
    ):
        return np.full(pairs.n_pairs, unknown, dtype=np.intp)
    position = {name: k for k, name in enumerate(names.tolist())}
    known = [position.get(name, unknown) for name in pairs.annotator_names.tolist()]
    return np.asarray(known, dtype=np.intp)[pairs.annotator]


def log_odds(chance: Array) -> Array:
    """Return the logarithms of the odds, kept finite."""
    return np.asarray(logit(np.clip(chance, 1e-6, 1.0 - 1e-6)))
