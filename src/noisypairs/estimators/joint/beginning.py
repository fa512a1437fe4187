"""All that a joint fit chooses: number of classes or kinds, noise, parts, classifier."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from noisypairs.errors import ClassNumberWarning
from noisypairs.estimators.inner.defaults import candidates_of
from noisypairs.estimators.joint.choice import Choice
from noisypairs.estimators.joint.parts.hard_items import fewer_classes
from noisypairs.estimators.joint.parts.held_out import Part
from noisypairs.estimators.joint.parts.kinds import choose_kinds
from noisypairs.estimators.joint.parts.parts import PartChoice, Switch
from noisypairs.estimators.joint.problem import is_gaussian
from noisypairs.estimators.joint.search.warm import Begun, LastFit, begin

if TYPE_CHECKING:
    from noisypairs.estimators.joint.classifier import JointPairClassifier
    from noisypairs.estimators.joint.problem import JointProblem
    from noisypairs.inference import em


def begin_with_parts(
    model: JointPairClassifier,
    problem: JointProblem,
    numbers: list[int],
    wanted: dict[Part, Switch],
    last: LastFit | None,
) -> tuple[Begun, PartChoice]:
    """Choose start, number of classes or kinds, noise family and parts of the answer model.

    What goes on from the last fit has its parts. Sets ``class_numbers_`` of the model.
    """
    if model.n_kinds is not None:
        model.class_numbers_ = {}
        search = model.search(problem)
        search.require_evidence(search.choose_classes(numbers[:1]))
        search, parts, chosen = choose_kinds(lambda: model.search(problem), numbers, wanted)
        return Begun(search, chosen, False, False, None, problem.all_pairs.n_pairs, None), parts
    begun = begin(model, problem, numbers, last)
    if begun.warm and last is not None:
        wanted = {part: part in last.parts for part in wanted}
    parts = PartChoice(begun.search, begun.chosen, wanted)
    begun = begun._replace(chosen=parts.choose())
    if begun.anew is not None:
        search, parts, chosen = fewer_classes(begun.search, parts, begun.chosen, wanted)
        begun = begun._replace(search=search, chosen=chosen)
    if begun.anew is not None:
        search, found = begun.anew
        # Hard items look like one class more.
        more = None if "clarity" in parts.kept else search.more_classes(found)
        model.class_numbers_ = {k: tried.score for k, tried in sorted(search.tried.items())}
        if more is not None:
            _warn_of_more_classes(search.n_classes, more)
    return begun, parts


def choose_classifier(
    model: JointPairClassifier,
    X: Any,
    problem: JointProblem,
    found: em.Inference,
    begun: Begun,
    parts: PartChoice,
) -> Choice:
    """Choose the classifier: as in the last fit, as held-out items said, or by a comparison."""
    search, own = begun.search, model.estimator is None
    candidates = candidates_of(model.estimator, X, problem.seed, search.n_classes)
    kept = begun.members if begun.members and len(candidates) > 1 else {}
    kept = kept if set(kept) <= set(candidates) else {}
    clusters = is_gaussian(search.start)
    choice = Choice(problem, found, kept or candidates, averaged=own, clusters=clusters)
    if kept or (own and clusters and parts.moved):
        choice.take(dict.fromkeys(kept or ("gaussian",)))
    else:
        choice.choose()
    return choice


def _warn_of_more_classes(n_classes: int, gain: float) -> None:
    warnings.warn(
        f"{n_classes + 1} classes explain the answers better than {n_classes}, by {gain:.0f} nats, "
        "and then more answers are right than it seems. Where the number is not known for certain, "
        "let it be chosen: n_classes='auto' or a range, --classes in commands",
        ClassNumberWarning,
        stacklevel=4,
    )
