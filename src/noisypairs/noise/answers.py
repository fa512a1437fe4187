"""How people answer: a table between classes, and parts whose strength is learnt.

    log-odds of "same" by person r about (i, j) = θ[z_i, z_j] + b_r + a_r (1[z_i = z_j] − ½) + …

The table θ belongs to a noise model, such as two rates or a shrunk matrix. A `Part` is everything
beyond it: people who differ, items that nobody recognises, an error that a pair makes everybody
commit, answers that follow looks. A part is one object with its parameters, its M-step and what it
changes in the chance of an answer. Its strength is learnt with the rest, and a part of strength
zero is left out. Adding a part means writing one subclass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from noisypairs.algebra import Array
from noisypairs.noise.labeling import LabelingNoise
from noisypairs.noise.model import MatrixNoise, NoiseModel, family
from noisypairs.noise.pairing import PairingNoise
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.inference.graph import PairGraph
    from noisypairs.inference.propagation import Beliefs

#: Answers of each couple of classes from which an average matrix is turned into flips.
MANY_ANSWERS = 1e6

#: All parts by name, in the order in which their effects are applied.
PARTS: dict[str, type[Part]] = {}


@dataclass(frozen=True, eq=False)
class Expectation:
    """What an E-step found: beliefs about the states of items, and answers counted by state.

    ``graph`` has the weights that answers had, and is None where they are streamed; ``same`` and
    ``different`` (R, Q, Q) count the states behind the answers of every group, such as a person;
    ``matrices`` (R, Q, Q) or (Q, Q) is S, and ``phi`` (n_items, K) P(class | x).
    """

    graph: PairGraph | None
    beliefs: Beliefs
    matrices: Array
    phi: Array
    same: Array
    different: Array


class Part:
    """One part of the answer model; by default it changes nothing.

    ``with_search`` says that the part is there from the first start on; others join in the last
    rounds, when the classes are found.
    """

    name: ClassVar[str]
    with_search: ClassVar[bool] = False
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
        """Return the part after an M-step, given S of the classes (K, K)."""
        raise NotImplementedError

    def expand_matrix(self, S: Array) -> Array:
        """Return S of all states, from S of the classes."""
        return S

    def expand_proba(self, phi: Array) -> Array:
        """Return P(state) of items from P(class), (n, K)."""
        return phi

    def collapse(self, states: Array, phi: Array) -> Array:
        """Return P(class), (n, K), from P(state), (n, Q), and P(class | x)."""
        del phi
        return states

    def by_group(self, S: Array, alike: Array) -> Array:
        """Return S of every group, (R, Q, Q), from that of the crowd; ``alike``: same class."""
        del alike
        return S

    def reweighted(self, graph: PairGraph) -> PairGraph:
        """Return the graph with the weights that answers have under this part."""
        return graph

    def class_matrix(self, S: Array) -> Array:
        """Return S of the classes (K, K), averaged over what the part adds."""
        return S


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
    def alike(self) -> Array:
        """Which states are of one class, (Q, Q); an added state is of no class."""
        alike = np.zeros((self.n_states, self.n_states))
        alike[: self.n_classes, : self.n_classes] = np.eye(self.n_classes)
        return alike

    @property
    def n_states(self) -> int:
        """K and the states that parts add."""
        return self.n_classes + sum(part.n_states for part in self.parts)

    def matrices(self) -> Array:
        """Return S of all states, (Q, Q), or (R, Q, Q) where people differ."""
        S = self.S
        for part in self.parts:
            S = part.expand_matrix(S)
        for part in self.parts:
            S = part.by_group(S, self.alike)
        return S

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
        K = self.n_classes
        same, different = (counts.sum(axis=0)[:K, :K] for counts in (seen.same, seen.different))
        given = self.family == "given"
        table = self.table if given else family(self.family).fit(same, different)
        S = table.same_probability(K)
        parts = tuple(part.fit(seen, S) for part in self.parts)
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

    def average_matrix(self) -> Array:
        """Return S of the classes (K, K), averaged over what parts add."""
        S = self.S
        for part in self.parts:
            S = part.class_matrix(S)
        return S

    def crowd_noise(self) -> NoiseModel:
        """Return the noise of an average answer: the table, averaged over what parts add.

        A given table is returned as it is.
        """
        S = self.average_matrix()
        if self.family == "given" or np.array_equal(S, self.S):
            return self.table
        if isinstance(self.table, PairingNoise):
            return PairingNoise(1.0 - float(S[0, 0]), float(S[0, 1]))
        if isinstance(self.table, LabelingNoise):  # the nearest flips
            return LabelingNoise.fit(MANY_ANSWERS * S, MANY_ANSWERS * (1.0 - S))
        return MatrixNoise(tuple(map(tuple, S.tolist())))

    def permuted(self, order: NDArray[np.intp]) -> AnswerModel:
        """Return the model with class ``order[k]`` as number k."""
        return replace(self, table=self.table.permuted(order))


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
    order = np.argsort(who, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(who[order])) + 1):
        if not rows.size:
            continue
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
