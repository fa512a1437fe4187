"""A fitted model as a file that can be looked at, and loaded, without running anything from it.

The file is a skops archive (`model_archive`): a zip with the objects as JSON and plain arrays, and
beside them what the model is. `inspect` builds no object. `load` first compares every type that the
file names with `trusted_types`; a type that is neither there nor among those that skops trusts is
refused by name, before any of it is built.
"""

from __future__ import annotations

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


#: The version of the form of model files. That of 0.1.0 and 0.2.0, whose learners are gone, was 1.
FORM = 2
#: What skrub's vectorizer of dates and categories and its factors of text are made of.
SKRUB = frozenset(
    f"skrub.{name}"
    for name in (
        "_apply_to_each_col.ApplyToEachCol",
        "_check_input.CheckInputDataFrame",
        "_clean_categories.CleanCategories",
        "_clean_null_strings.CleanNullStrings",
        "_dataframe._common.is_any_date",
        "_dataframe._common.is_categorical",
        "_dataframe._common.is_numeric",
        "_datetime_encoder.DatetimeEncoder",
        "_datetime_encoder._CircularEncoder",
        "_drop_uninformative.DropUninformative",
        "_duration_to_float.DurationToFloat",
        "_string_encoder.StringEncoder",
        "_table_vectorizer.PassThrough",
        "_table_vectorizer.ShortReprDict",
        "_table_vectorizer.TableVectorizer",
        "_table_vectorizer._created_by_predicate",
        "_to_datetime.ToDatetime",
        "_to_float.ToFloat",
        "_to_str.ToStr",
        "selectors._base.All",
        "selectors._base.And",
        "selectors._base.Cols",
        "selectors._base.Filter",
        "selectors._base.Sub",
        "selectors._selectors._cardinality_below",
    )
)
#: Types of other packages, beyond skops' own list, that a model of ours may hold.
TRUSTED_ELSEWHERE = SKRUB | frozenset(
    {
        "numpy.dtype",  # names a form of numbers, inside the imputer
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.tree._tree.Tree",
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
    "pairs_",
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
UNSEALED = "{} holds no digests: whether its card was edited cannot be checked"
#: Modules of scikit-learn that import another package. skops imports all of scikit-learn, and with
#: these torch: seconds, for nothing, or a failure where torch is only half installed.
OTHER_ARRAYS = tuple(
    f"sklearn.externals.array_api_compat.{package}" for package in ("cupy", "dask", "torch")
)
#: Packages whose other version may read a model differently.
MATTERS = ("noisypairs", "scikit-learn", "numpy", "skrub")


class EditedCardWarning(UserWarning):
    """The facts or the card of a model are not those that were written with it."""


class ModelVersionWarning(UserWarning):
    """A model was written with other versions of the packages that read it now."""


@dataclass(frozen=True)
class Model:
    """A loaded model: the fitted pipeline and the facts written beside it.

    ``edited`` says whether the facts are no longer those that were written; None where the file
    has no digests.
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

    Warns with `ModelVersionWarning` where the file was written with other versions, and with
    `EditedCardWarning` where its facts are not those that were written with the model.
    """
    from sklearn.exceptions import InconsistentVersionWarning
    from sklearn.pipeline import Pipeline

    skops = require_skops()
    archive = read_archive(path)
    facts, path = _facts(archive), archive.path
    if foreign := _foreign(archive.content, path):
        raise BadModelFile(_refusal(path, foreign, facts))
    _warn_if_edited(path, archive.edited)
    _compare_versions(facts, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # said once, above
            pipeline = skops.loads(archive.content, trusted=sorted(trusted_types()))
        usable = isinstance(pipeline, Pipeline) and hasattr(pipeline[-1], "predict_proba")
        model = Model(pipeline, facts, archive.edited)
        if usable:
            _try_one_row(model)
    except skops.exceptions.UntrustedTypesFoundException as error:
        raise BadModelFile(f"{path} is not loaded: {error}") from error
    except Exception as error:  # a damaged file may fail in any way, and must fail in ours
        raise damaged(path, error) from error
    if not usable:
        raise BadModelFile(f"{path} holds a {type(pipeline).__name__}, not a model of noisypairs")
    return model


def _try_one_row(model: Model) -> None:
    """Predict an item of which nothing is known: what is loaded may not fit together."""
    import pandas as pd

    first = model.pipeline[0]
    if hasattr(first, "feature_names_in_"):
        row: Any = pd.DataFrame({name: [None] for name in first.feature_names_in_})
    else:
        row = [[0.0] * first.n_features_in_]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        n_found = model.pipeline.predict_proba(row).shape[1]
    if n_found != len(model.pipeline.classes_):
        raise ValueError(f"{n_found} probabilities for {len(model.pipeline.classes_)} classes")


def trusted_types() -> frozenset[str]:
    """Return the full names of all types beyond skops' own list that are ever built."""
    return TRUSTED_ELSEWHERE | _own_types()


@cache
def _own_types() -> frozenset[str]:
    """Return the full names of the classes of ours that a model may hold.

    These are the transformers of `encoding`, the encoders of the package, all exported estimators
    and noise models, the estimators of `estimators.inner`, the records of an estimated prior, and
    the joint learner with its answer model and parts.
    """
    from sklearn.base import BaseEstimator

    from noisypairs import estimation, estimators, noise
    from noisypairs.app import encoding
    from noisypairs.classifier import JointPairClassifier, SearchOptions
    from noisypairs.encoders import ENCODERS
    from noisypairs.estimation.heldout import Gain
    from noisypairs.estimators import inner
    from noisypairs.joint.em import Spec
    from noisypairs.pairs.levels import Scale

    parts = [import_module(f"{inner.__name__}.{one.name}") for one in iter_modules(inner.__path__)]
    found = [estimation.Interval, estimation.PriorEstimate]
    found += [one for one in ENCODERS.values() if one.__module__.startswith("noisypairs.encoders.")]
    found += [JointPairClassifier, SearchOptions, Spec, Gain, Scale]
    found += [noise.AnswerModel, *noise.PARTS.values()]
    for module in (encoding, estimators, noise, *parts):
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and value.__module__.startswith(module.__name__)
            and issubclass(value, (BaseEstimator, noise.NoiseModel))
        ]
    return frozenset(f"{one.__module__}.{one.__qualname__}" for one in found)


def _refusal(path: Path, foreign: list[str], facts: Mapping[str, Any]) -> str:
    """Say what is not trusted and what to do; a type of ours is one of another version."""
    names = ", ".join(foreign)
    if all(name.startswith("noisypairs.") for name in foreign):
        return (
            f"{path} holds {names}, which this version of noisypairs does not load: fit the model "
            f"again, or predict with noisypairs {_writer(facts)}"
        )
    return (
        f"{path} holds {names}, which no model of noisypairs contains: it was changed or made by "
        "something else, and is not loaded. Fit the model again from its data"
    )


def _writer(facts: Mapping[str, Any]) -> str:
    """Return the version that wrote a model, as the model says."""
    versions = facts.get("versions")
    return str(versions.get("noisypairs", "0.1.0")) if isinstance(versions, dict) else "0.1.0"


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
        stored = json.loads(archive.facts)
        json.dumps(stored, ensure_ascii=False, allow_nan=False).encode()  # NaN, half characters
    except (ValueError, RecursionError) as error:
        raise BadModelFile(f"{path}: its {FACTS} is damaged ({error})") from error
    facts: dict[str, Any] = stored if isinstance(stored, dict) else {}
    form = facts.get("noisypairs_model")
    if form == 1:
        raise BadModelFile(
            f"{path} was written by noisypairs {_writer(facts)}, whose models this version cannot "
            "read: fit again from the items and pairs, or predict with that version"
        )
    if form != FORM:
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
