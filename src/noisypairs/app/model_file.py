"""A fitted model as a file that can be looked at, and loaded, without running anything from it.

The file is a skops archive: a zip with the objects as JSON and plain arrays, and beside them two
members of ours that skops does not look at, `FACTS` (what the model is, as JSON) and `CARD` (the
same to read). `inspect` reads `FACTS` alone and builds no object. `load` first compares every type
that the file names with `TRUSTED`; a type that is neither there nor among those that skops trusts
is refused by name, before any of it is built.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisypairs import noise
from noisypairs.errors import MissingExtra

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def _type_name(one: type) -> str:
    return f"{one.__module__}.{one.__qualname__}"


#: Members of the archive that are ours, and the version of their form.
FACTS, CARD, FORM = "noisypairs.json", "README.md", 1
#: Types beyond skops' own list that a model of ours is made of; nothing else is ever built.
TRUSTED = frozenset(
    {
        "noisypairs.app.encoding.CategoryReader",
        "noisypairs.app.encoding.DateReader",
        "noisypairs.app.encoding.NumberReader",
        "noisypairs.app.encoding.WordFactors",
        "noisypairs.app.encoding._Scale",
        "noisypairs.estimation.Interval",
        "noisypairs.estimation.PriorEstimate",
        "noisypairs.estimators.inner.average.AveragedClassifier",
        "noisypairs.estimators.inner.gaussian.GaussianClasses",
        "noisypairs.estimators.joint.classifier.JointPairClassifier",
        "noisypairs.estimators.loss_correction.LossCorrectionClassifier",
        "noisypairs.estimators.inner.ridge.RidgeClasses",
        "noisypairs.estimators.weighted.WeightedPairClassifier",
        *(name for name in map(_type_name, noise.models()) if name.startswith("noisypairs.")),
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
    "wrong_proba_",
    "history_",
    "rate_choice_",
)
#: A file that would unpack to more than this, or has more members, is refused: it may be a trap.
MOST_BYTES, MOST_MEMBERS, MOST_FACTS = 2 * 2**30, 20_000, 8 * 2**20
#: A card names so many columns one by one; beyond that, columns treated alike share a line.
MOST_COLUMNS, MOST_NAMES = 20, 6
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

    Warns with `ModelVersionWarning` where the file was written with other versions.
    """
    from sklearn.exceptions import InconsistentVersionWarning
    from sklearn.pipeline import Pipeline

    skops = require_skops()
    content = _content(path)
    facts = _facts(content, Path(path))
    if foreign := _foreign(content, Path(path)):
        raise BadModelFile(
            f"{path} holds {', '.join(foreign)}, which no model of noisypairs contains: it was "
            "changed or made by something else, and is not loaded"
        )
    _compare_versions(facts, Path(path))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # told once, above
            pipeline = skops.loads(content, trusted=sorted(TRUSTED))
    except skops.exceptions.UntrustedTypesFoundException as error:
        raise BadModelFile(f"{path} is not loaded: {error}") from error
    except Exception as error:  # a damaged file may fail in any way, and must fail in ours
        raise BadModelFile(f"{path} is damaged ({type(error).__name__}: {error})") from error
    if not isinstance(pipeline, Pipeline) or not hasattr(pipeline[-1], "predict_proba"):
        raise BadModelFile(f"{path} holds a {type(pipeline).__name__}, not a model of noisypairs")
    return Model(pipeline, facts)


def card(facts: Mapping[str, Any]) -> str:
    """Return the model card, Markdown: what it is, how good, from what, how to use it.

    Control characters are left out: a file must not steer the terminal that shows it.
    """
    text = "\n\n".join(_card_parts(facts)) + "\n"
    return "".join(char for char in text if char.isprintable() or char == "\n")


def _card_parts(facts: Mapping[str, Any]) -> list[str]:
    accuracy = facts.get("accuracy")
    good = _interval(accuracy) if accuracy else "not estimated"
    classes = [f"| {c['name']} | {c['share']:.1%} | {c['n_items']:,} |" for c in facts["classes"]]
    named = "named by known labels" if facts["names_known"] else "named by size, smallest first"
    noise = facts["noise"]
    files = [
        f"* {role}: {name}, sha256 {facts['checksums'][role]}"
        for role, name in facts["sources"].items()
    ]
    rows = ((c["name"], c["kind"], c["note"]) for c in facts["features"])
    columns = [f"| {' | '.join(row)} |" for row in column_rows(rows)]
    return [
        f"# Model of {facts['title']}",
        f"{facts['method_title']} with {facts['estimator_title']}, learnt from "
        f"{facts['n_pairs']:,} answers about {facts['n_items']:,} items. Written {facts['date']}, "
        f"seed {facts['seed']}.",
        f"**Estimated accuracy on new items: {good}**; always naming the largest class would reach "
        f"{facts['majority_share']:.1%}. How estimated: {facts['accuracy_how']}.",
        f"Why this method: {facts['why']}",
        f"## Classes\n\nThey are {named}.\n\n| class | share | items |\n|---|---|---|\n"
        + "\n".join(classes),
        "## Noise of the answers\n\n"
        f"* same called different: {_interval(noise['similar_flip'])}\n"
        f"* different called same: {_interval(noise['dissimilar_flip'])}",
        "## Trained on\n\n" + "\n".join(files),
        "## Columns\n\n| column | kind | what is done |\n|---|---|---|\n" + "\n".join(columns),
        "## Use and limits\n\n"
        "`noisypairs predict MODEL NEW_ITEMS -o out.csv`. New items must have the columns above, "
        "measured in the same way. The answers were never checked against true classes: the "
        "accuracy is an estimate. A kernel model keeps up to 300 encoded training items inside the "
        "file; the answers and the beliefs about single items are not kept.",
        "## Versions\n\n" + ", ".join(f"{k} {v}" for k, v in facts["versions"].items()),
    ]


def column_rows(columns: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return a row (names, kind, treatment) per column, or where they are many, per treatment.

    >>> column_rows([(f"f{k}", "number", "scaled") for k in range(64)])
    [('f0, f1, f2, f3, f4, …, f63 (64 columns)', 'number', 'scaled')]
    """
    rows = [(str(name), str(kind), str(note)) for name, kind, note in columns]
    if len(rows) <= MOST_COLUMNS:
        return rows
    alike: dict[tuple[str, str], list[str]] = {}
    for name, *treatment in rows:
        alike.setdefault((treatment[0], treatment[1]), []).append(name)
    return [(_names(names), *treatment) for treatment, names in alike.items()]


def _names(names: list[str]) -> str:
    if len(names) > MOST_NAMES:
        first = ", ".join(names[: MOST_NAMES - 1])
        return f"{first}, …, {names[-1]} ({len(names):,} columns)"
    return ", ".join(names)


def _interval(one: Mapping[str, float]) -> str:
    if one["low"] == one["high"]:
        return f"{one['estimate']:.1%}"
    return f"{one['estimate']:.1%} ({one['low']:.1%} to {one['high']:.1%})"


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
    return sorted(set(found) - TRUSTED)


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
