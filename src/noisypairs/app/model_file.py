"""A fitted model as a file that can be looked at, and loaded, without running anything from it.

The file is a skops archive (`model_archive`): a zip with the objects as JSON and plain arrays, and
beside them what the model is. `inspect` builds no object. `load` first compares every type that the
file names with `trusted_types`; a type that is neither there nor among those that skops trusts is
refused by name, before any of it is built.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from noisypairs.app.model_archive import (
    FACTS,
    BadModelFile,
    ModelArchive,
    damaged,
    read_archive,
    with_parts,
)
from noisypairs.app.model_card import card
from noisypairs.errors import MissingExtra

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


#: The version of the form of the facts.
FORM = 1
#: The member in which skops names the types.
SCHEMA = "schema.json"
#: Types of other packages, beyond skops' own list, that a model of ours may hold.
TRUSTED_ELSEWHERE = frozenset(
    {
        "numpy.dtype",  # names a form of numbers, inside the imputer
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.tree._tree.Tree",
    }
)
#: Modules of earlier versions that have moved since. Their classes kept their names, by which
#: `_own_types` finds where they are now.
MOVED = frozenset(
    {
        "noisypairs.encoding",
        "noisypairs.estimation",
        "noisypairs.estimators.average",
        "noisypairs.estimators.gaussian",
        "noisypairs.estimators.joint",
        "noisypairs.estimators.joint.answers",
        "noisypairs.estimators.joint.parts",
        "noisypairs.estimators.ridge",
        "noisypairs.noise",
    }
)
#: What a learner keeps about its training data, one entry per item or answer, or for tuning only.
TRAINING_ONLY = (
    "item_proba_",
    "oof_proba_",
    "item_states_",
    "item_kinds_",
    "oof_kinds_",
    "wrong_proba_",
    "asked_",
    "members_",
    "expected_error_",
    "history_",
    "rate_choice_",
)
#: What is said of a file whose facts or card changed after it was written.
EDITED = (
    "{}: its card was edited after the model was written, so that what it says, such as the "
    "accuracy, may not be true of this model: ask for the file as it was written, or fit again"
)
#: … and of a file that does not tell.
UNSEALED = (
    "{} holds no digests, as files of version 0.1.0: whether its card was edited cannot be checked"
)
#: Modules of scikit-learn that import another package. skops imports all of scikit-learn, and with
#: these torch: seconds, for nothing, or a failure where torch is only half installed.
OTHER_ARRAYS = tuple(
    f"sklearn.externals.array_api_compat.{package}" for package in ("cupy", "dask", "torch")
)
#: Packages whose other version may read a model differently.
MATTERS = ("noisypairs", "scikit-learn", "numpy")


class EditedCardWarning(UserWarning):
    """The facts or the card of a model are not those that were written with it."""


class ModelVersionWarning(UserWarning):
    """A model was written with other versions of the packages that read it now."""


@dataclass(frozen=True)
class Model:
    """A loaded model: the fitted pipeline and the facts written beside it.

    ``edited`` says whether the facts are no longer those that were written; None where the file,
    of version 0.1.0, does not tell.
    """

    pipeline: Pipeline
    facts: Mapping[str, Any]
    edited: bool | None = None

    @property
    def columns(self) -> list[str]:
        """Columns of the items that the model uses, in the order of training."""
        left_out = ("constant", "id")
        return [one["name"] for one in self.facts["features"] if one["kind"] not in left_out]


def require_skops() -> Any:
    """Return skops.io. Looking at a model does not need it, and importing it takes seconds."""
    try:
        with _without_other_arrays():
            import skops.io
    except ImportError as error:
        raise MissingExtra("skops", "app", "Reading and writing models") from error
    return skops.io


@contextmanager
def _without_other_arrays() -> Iterator[None]:
    """Keep `OTHER_ARRAYS` from being imported inside the block, unless they are already."""
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    kept_out = [name for name in OTHER_ARRAYS if name not in modules]
    modules.update(dict.fromkeys(kept_out))  # None makes an import fail
    try:
        yield
    finally:
        for name in kept_out:
            del modules[name]


def save(
    path: PathLike[str] | str, pipeline: Pipeline, facts: Mapping[str, Any], force: bool = False
) -> Path:
    """Write a pipeline that ends in a fitted pair classifier, with facts, whole or not at all.

    What the classifier keeps about its training items and answers (`TRAINING_ONLY`) is left out.
    """
    from noisypairs.app.files import atomic_write

    skops = require_skops()
    content = skops.dumps(_stripped(pipeline), compression=zipfile.ZIP_DEFLATED)
    foreign = _foreign(content)
    if foreign:  # better now than when somebody needs the model
        raise TypeError(
            f"a model file cannot hold {', '.join(foreign)}: its reader would refuse it"
        )
    whole = {"noisypairs_model": FORM, **facts}
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, default=str)
    return atomic_write(path, with_parts(content, text, card(whole)), force)


class Look(NamedTuple):
    """The facts in a model file, and whether they were edited; None where that cannot be told."""

    facts: dict[str, Any]
    edited: bool | None


def look(path: PathLike[str] | str) -> Look:
    """Return the facts in a model file and whether they were edited; no object is built."""
    archive = read_archive(path)
    return Look(_facts(archive), archive.edited)


def inspect(path: PathLike[str] | str) -> dict[str, Any]:
    """Return the facts in a model file; no object of the file is built.

    Warns with `EditedCardWarning` where they are not those that were written with the model.
    """
    found = look(path)
    _warn_if_edited(path, found.edited)
    return found.facts


def load(path: PathLike[str] | str) -> Model:
    """Return the model in a file, if every type in it is trusted.

    A file of an earlier version is read under the names its classes have now. Warns with
    `ModelVersionWarning` where the file was written with other versions, and with
    `EditedCardWarning` where its facts are not those that were written with the model.
    """
    from sklearn.exceptions import InconsistentVersionWarning
    from sklearn.pipeline import Pipeline

    skops = require_skops()
    archive = read_archive(path)
    facts, path = _facts(archive), archive.path
    content = _with_present_names(archive)
    if foreign := _foreign(content, path):
        raise BadModelFile(_refusal(path, foreign, facts))
    _warn_if_edited(path, archive.edited)
    _compare_versions(facts, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # said once, above
            pipeline = skops.loads(content, trusted=sorted(trusted_types()))
        usable = isinstance(pipeline, Pipeline) and hasattr(pipeline[-1], "predict_proba")
    except skops.exceptions.UntrustedTypesFoundException as error:
        raise BadModelFile(f"{path} is not loaded: {error}") from error
    except Exception as error:  # a damaged file may fail in any way, and must fail in ours
        raise damaged(path, error) from error
    if not usable:
        raise BadModelFile(f"{path} holds a {type(pipeline).__name__}, not a model of noisypairs")
    return Model(pipeline, facts, archive.edited)


def trusted_types() -> frozenset[str]:
    """Return the full names of all types beyond skops' own list that are ever built."""
    return TRUSTED_ELSEWHERE | {f"{where}.{name}" for name, where in _own_types().items()}


@cache
def _own_types() -> Mapping[str, str]:
    """Return the classes of ours that a model may hold: name -> module, as they are now.

    These are the transformers of `encoding`, all exported estimators and noise models, the
    estimators of `estimators.inner`, the records of an estimated prior, and the answer model with
    its parts.
    """
    from sklearn.base import BaseEstimator

    from noisypairs import estimation, estimators, noise
    from noisypairs.app import encoding
    from noisypairs.estimators import inner
    from noisypairs.estimators.joint.answers.model import AnswerModel, Similarity
    from noisypairs.estimators.joint.parts.parts import HeldOutGain
    from noisypairs.noise import clarity
    from noisypairs.noise.people import People

    parts = [import_module(f"{inner.__name__}.{one.name}") for one in iter_modules(inner.__path__)]
    found = [estimation.Interval, estimation.PriorEstimate]
    found += [AnswerModel, Similarity, HeldOutGain, People]
    for module in (encoding, estimators, noise, clarity, *parts):
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and value.__module__.startswith(module.__name__)
            and issubclass(value, (BaseEstimator, noise.NoiseModel))
        ]
    return {one.__qualname__: one.__module__ for one in found}


def _with_present_names(archive: ModelArchive) -> bytes:
    """Return the archive with the module names of earlier versions replaced by those of now."""
    renamed = []

    def present(node: dict[str, Any]) -> dict[str, Any]:
        now = _own_types().get(str(node.get("__class__")))
        if node.get("__module__") in MOVED and now is not None:
            renamed.append(now)
            return node | {"__module__": now}
        return node

    try:
        with zipfile.ZipFile(io.BytesIO(archive.content)) as old:
            schema = json.loads(old.read(SCHEMA), object_hook=present)
            members = {one: old.read(one) for one in old.namelist() if renamed}
        if not renamed:
            return archive.content
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as new:
            for name, data in (members | {SCHEMA: json.dumps(schema).encode()}).items():
                new.writestr(name, data)
        return buffer.getvalue()
    except Exception as error:  # whatever a damaged or hostile archive sets off
        raise damaged(archive.path, error) from error


def _refusal(path: Path, foreign: list[str], facts: Mapping[str, Any]) -> str:
    """Say what is not trusted and what to do; a type of ours is one of another version."""
    names = ", ".join(foreign)
    if all(name.startswith("noisypairs.") for name in foreign):
        writer = facts.get("versions", {}).get("noisypairs", "that wrote it")
        return (
            f"{path} holds {names}, which this version of noisypairs does not load: fit the model "
            f"again, or predict with noisypairs {writer}"
        )
    return (
        f"{path} holds {names}, which no model of noisypairs contains: it was changed or made by "
        "something else, and is not loaded. Fit the model again from its data"
    )


def _stripped(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline with a last step that has forgotten its training data."""
    from sklearn.pipeline import Pipeline

    *steps, (name, last) = pipeline.steps
    light = copy(last)
    for attribute in TRAINING_ONLY:
        light.__dict__.pop(attribute, None)
    return Pipeline([*steps, (name, light)])


def _facts(archive: ModelArchive) -> dict[str, Any]:
    """Return the facts, if they are ours and say what the commands ask for."""
    path = archive.path
    try:
        facts = json.loads(archive.facts)
        json.dumps(facts, ensure_ascii=False, allow_nan=False).encode()  # NaN, half characters
    except (ValueError, RecursionError) as error:
        raise BadModelFile(f"{path}: its {FACTS} is damaged ({error})") from error
    if not isinstance(facts, dict) or facts.get("noisypairs_model") != FORM:
        raise BadModelFile(
            f"{path}: its {FACTS} has a form this version does not know: update noisypairs"
        )
    try:
        card(facts)
        _require_columns(facts)
    except Exception as error:  # a file may claim anything
        raise BadModelFile(f"{path}: its {FACTS} is incomplete or damaged ({error!r})") from error
    return facts


def _require_columns(facts: Mapping[str, Any]) -> None:
    """Refuse facts that do not say how the columns of new items are to be read."""
    words = [one[key] for one in facts["features"] for key in ("name", "kind")]
    words += [facts["columns"].get("id") or ""]
    if not all(isinstance(word, str) for word in words):
        raise TypeError("columns and their kinds are not text")


def _warn_if_edited(path: PathLike[str] | str, edited: bool | None) -> None:
    if edited:
        warnings.warn(EDITED.format(path), EditedCardWarning, stacklevel=3)


def _foreign(content: bytes, path: Path | None = None) -> list[str]:
    """Return the types in an archive that are not trusted; nothing is built."""
    skops = require_skops()
    try:
        found = skops.get_untrusted_types(data=content)
    except Exception as error:  # whatever a damaged or hostile schema sets off
        raise damaged(path or Path("the model"), error) from error
    return sorted(set(found) - trusted_types())


def _compare_versions(facts: Mapping[str, Any], path: Path) -> None:
    from importlib.metadata import version

    written = facts.get("versions", {})
    others = [
        f"{name} {written[name]} (here {version(name)})"
        for name in MATTERS
        if name in written and _minor(written[name]) != _minor(version(name))
    ]
    if others:
        warnings.warn(
            f"{path} was written with {', '.join(others)}: check some predictions, or fit again",
            ModelVersionWarning,
            stacklevel=3,
        )


def _minor(number: str) -> list[str]:
    return str(number).split(".")[:2]
