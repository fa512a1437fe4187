"""A fitted model as a file that can be looked at, and loaded, without running anything from it.

The file is a skops archive: a zip with the objects as JSON and plain arrays, and beside them two
members of ours that skops does not look at, `FACTS` (what the model is, as JSON) and `CARD` (the
same to read). `inspect` reads `FACTS` alone and builds no object. `load` first compares every type
that the file names with `trusted_types`; a type that is neither there nor among those that skops
trusts is refused by name, before any of it is built.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from noisypairs.app.model_card import card
from noisypairs.errors import MissingExtra

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def _type_name(one: type) -> str:
    return f"{one.__module__}.{one.__qualname__}"


#: Members of the archive that are ours, and the version of their form.
FACTS, CARD, FORM = "noisypairs.json", "README.md", 1
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
#: Modules of version 0.1.0 that have moved since. Their classes kept their names, by which
#: `_own_types` finds where they are now.
MOVED = frozenset(
    {
        "noisypairs.encoding",
        "noisypairs.estimators.average",
        "noisypairs.estimators.gaussian",
        "noisypairs.estimators.joint",
        "noisypairs.estimators.ridge",
        "noisypairs.noise",
    }
)
#: What a learner keeps about its training data, one entry per item or answer, or for tuning only.
TRAINING_ONLY = (
    "item_proba_",
    "oof_proba_",
    "wrong_proba_",
    "history_",
    "rate_choice_",
)
#: A file that would unpack to more than this, or has more members, is refused: it may be a trap.
MOST_BYTES, MOST_MEMBERS, MOST_FACTS = 2 * 2**30, 20_000, 8 * 2**20
#: Packages whose other version may read a model differently.
MATTERS = ("noisypairs", "scikit-learn", "numpy")


class BadModelFile(ValueError):
    """A file is not a model of ours, is damaged, or holds what is not trusted."""


class ModelVersionWarning(UserWarning):
    """A model was written with other versions of the packages that read it now."""


@dataclass(frozen=True)
class Model:
    """A loaded model: the fitted pipeline and the facts written beside it."""

    pipeline: Pipeline
    facts: Mapping[str, Any]

    @property
    def columns(self) -> list[str]:
        """Columns of the items that the model uses, in the order of training."""
        left_out = ("constant", "id")
        return [one["name"] for one in self.facts["features"] if one["kind"] not in left_out]


def require_skops() -> Any:
    """Return skops.io. Looking at a model does not need it, and importing it takes seconds."""
    try:
        import skops.io
    except ImportError as error:
        raise MissingExtra("skops", "app", "Reading and writing models") from error
    return skops.io


def save(
    path: PathLike[str] | str, pipeline: Pipeline, facts: Mapping[str, Any], force: bool = False
) -> Path:
    """Write a pipeline that ends in a fitted pair classifier, with facts, whole or not at all.

    What the classifier keeps about its training items and answers (`TRAINING_ONLY`) is left out.
    """
    from noisypairs.app.files import atomic_write

    skops = require_skops()
    content = io.BytesIO(skops.dumps(_stripped(pipeline), compression=zipfile.ZIP_DEFLATED))
    foreign = _foreign(content.getvalue())
    if foreign:  # better now than when somebody needs the model
        raise TypeError(
            f"a model file cannot hold {', '.join(foreign)}: its reader would refuse it"
        )
    whole = {"noisypairs_model": FORM, **facts}
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, json.dumps(whole, ensure_ascii=False, allow_nan=False, default=str))
        archive.writestr(CARD, card(whole))
    return atomic_write(path, content.getvalue(), force)


def inspect(path: PathLike[str] | str) -> dict[str, Any]:
    """Return the facts in a model file; no object of the file is built."""
    return _facts(_content(path), Path(path))


def load(path: PathLike[str] | str) -> Model:
    """Return the model in a file, if every type in it is trusted.

    A file of version 0.1.0 is read under the names its classes have now. Warns with
    `ModelVersionWarning` where the file was written with other versions.
    """
    from sklearn.exceptions import InconsistentVersionWarning
    from sklearn.pipeline import Pipeline

    skops = require_skops()
    path = Path(path)
    content = _content(path)
    facts = _facts(content, path)
    content = _with_present_names(content, path)
    if foreign := _foreign(content, path):
        raise BadModelFile(_refusal(path, foreign, facts))
    _compare_versions(facts, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # said once, above
            pipeline = skops.loads(content, trusted=sorted(trusted_types()))
    except skops.exceptions.UntrustedTypesFoundException as error:
        raise BadModelFile(f"{path} is not loaded: {error}") from error
    except Exception as error:  # a damaged file may fail in any way, and must fail in ours
        raise BadModelFile(f"{path} is damaged ({type(error).__name__}: {error})") from error
    if not isinstance(pipeline, Pipeline) or not hasattr(pipeline[-1], "predict_proba"):
        raise BadModelFile(f"{path} holds a {type(pipeline).__name__}, not a model of noisypairs")
    return Model(pipeline, facts)


def trusted_types() -> frozenset[str]:
    """Return the full names of all types beyond skops' own list that are ever built."""
    return TRUSTED_ELSEWHERE | {f"{where}.{name}" for name, where in _own_types().items()}


@cache
def _own_types() -> Mapping[str, str]:
    """Return the classes of ours that a model may hold: name -> module, as they are now.

    These are the transformers of `encoding`, all exported estimators and noise models, the
    estimators of `estimators.inner`, and the records of an estimated prior.
    """
    from sklearn.base import BaseEstimator

    from noisypairs import estimation, estimators, noise
    from noisypairs.app import encoding
    from noisypairs.estimators import inner

    parts = [import_module(f"{inner.__name__}.{one.name}") for one in iter_modules(inner.__path__)]
    found = [estimation.Interval, estimation.PriorEstimate]
    for module in (encoding, estimators, noise, *parts):
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and value.__module__.startswith(module.__name__)
            and issubclass(value, (BaseEstimator, noise.NoiseModel))
        ]
    return {one.__qualname__: one.__module__ for one in found}


def _with_present_names(content: bytes, path: Path) -> bytes:
    """Return the archive with the module names of version 0.1.0 replaced by those of now."""
    renamed = []

    def present(node: dict[str, Any]) -> dict[str, Any]:
        now = _own_types().get(str(node.get("__class__")))
        if node.get("__module__") in MOVED and now is not None:
            renamed.append(now)
            return node | {"__module__": now}
        return node

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as old:
            schema = json.loads(old.read(SCHEMA), object_hook=present)
            members = {one: old.read(one) for one in old.namelist() if renamed}
    except Exception as error:  # whatever a damaged or hostile archive sets off
        raise BadModelFile(f"{path} is damaged ({error})") from error
    if not renamed:
        return content
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as new:
        for name, data in (members | {SCHEMA: json.dumps(schema).encode()}).items():
            new.writestr(name, data)
    return buffer.getvalue()


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


def _content(path: PathLike[str] | str) -> bytes:
    """Return the bytes of a file after a look at the sizes that it claims to have."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file():  # a pipe would never end
            raise BadModelFile(f"cannot read {path}: it is no file, as `noisypairs fit` writes")
        if path.stat().st_size > MOST_BYTES:
            raise BadModelFile(f"{path} has more than {MOST_BYTES / 2**30:g} GiB: not loaded")
        content = path.read_bytes()
    except OSError as error:
        raise BadModelFile(f"cannot read {path}: {error.strerror}") from error
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise BadModelFile(
            f"{path} is no model file, or was cut short: expected what `noisypairs fit -o` writes"
        ) from error
    if len(members) > MOST_MEMBERS or sum(one.file_size for one in members) > MOST_BYTES:
        raise BadModelFile(
            f"{path} would unpack to {sum(one.file_size for one in members):,} bytes in "
            f"{len(members):,} parts, more than any model of ours: not loaded"
        )
    return content


def _facts(content: bytes, path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if archive.getinfo(FACTS).file_size > MOST_FACTS:
                raise BadModelFile(f"{path}: its {FACTS} is too large to be ours")
            facts = json.loads(archive.read(FACTS))
    except KeyError as error:
        raise BadModelFile(
            f"{path} is an archive without {FACTS}: not a model that `noisypairs fit` wrote"
        ) from error
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError) as error:
        if isinstance(error, BadModelFile):
            raise
        raise BadModelFile(f"{path}: its {FACTS} is damaged ({error})") from error
    if not isinstance(facts, dict) or facts.get("noisypairs_model") != FORM:
        raise BadModelFile(
            f"{path}: its {FACTS} has a form this version does not know: update noisypairs"
        )
    try:
        card(facts)  # whatever the file claims, what the commands ask for must be there
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise BadModelFile(f"{path}: its {FACTS} is incomplete ({error!r})") from error
    return facts


def _foreign(content: bytes, path: Path | None = None) -> list[str]:
    """Return the types in an archive that are not trusted; nothing is built."""
    skops = require_skops()
    try:
        found = skops.get_untrusted_types(data=content)
    except Exception as error:  # whatever a damaged or hostile schema sets off
        raise BadModelFile(f"{path or 'the model'} is damaged ({error})") from error
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
