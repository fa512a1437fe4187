"""Learn a classifier of items from noisy answers to "are these two the same class?".

Names load their modules when first used: importing the package is cheap, and neither
scikit-learn nor any optional package is imported before it is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

if TYPE_CHECKING:
    from noisypairs import (
        algebra,
        annotators,
        datasets,
        estimation,
        experiments,
        metrics,
        model_file,
        model_selection,
        theory,
    )
    from noisypairs.app.plan import plan
    from noisypairs.assess import choose_pairs, enough, first_pairs
    from noisypairs.classifier import JointPairClassifier, SearchOptions
    from noisypairs.errors import (
        ChosenPairsWarning,
        ClassNamesWarning,
        ClassNumberWarning,
        CopiedAnswersWarning,
        NotIdentifiable,
        NotIdentifiableWarning,
        RepeatedItemsWarning,
        WeakEstimatorWarning,
    )
    from noisypairs.estimators import (
        COPKMeans,
        LossCorrectionClassifier,
        PairKMeans,
        WeightedPairClassifier,
    )
    from noisypairs.experiments import compare
    from noisypairs.noise import (
        CleanPairs,
        ComposedNoise,
        LabelingNoise,
        MatrixNoise,
        NoiseModel,
        PairingNoise,
    )
    from noisypairs.pairs import Pairs
    from noisypairs.sampling import sample_pairs
    from noisypairs.tables import ItemTable, PairTable

_HOME = {
    "COPKMeans": "estimators",
    "ChosenPairsWarning": "errors",
    "ClassNamesWarning": "errors",
    "ClassNumberWarning": "errors",
    "CleanPairs": "noise",
    "ComposedNoise": "noise",
    "CopiedAnswersWarning": "errors",
    "ItemTable": "tables",
    "JointPairClassifier": "classifier",
    "LabelingNoise": "noise",
    "LossCorrectionClassifier": "estimators",
    "MatrixNoise": "noise",
    "NoiseModel": "noise",
    "NotIdentifiable": "errors",
    "NotIdentifiableWarning": "errors",
    "PairKMeans": "estimators",
    "PairTable": "tables",
    "PairingNoise": "noise",
    "Pairs": "pairs",
    "RepeatedItemsWarning": "errors",
    "SearchOptions": "classifier",
    "WeakEstimatorWarning": "errors",
    "WeightedPairClassifier": "estimators",
    "choose_pairs": "assess",
    "compare": "experiments",
    "enough": "assess",
    "first_pairs": "assess",
    "plan": "app.plan",
    "sample_pairs": "sampling",
}
_MODULES = (
    "algebra",
    "annotators",
    "datasets",
    "estimation",
    "experiments",
    "metrics",
    "model_file",
    "model_selection",
    "theory",
)

__all__ = [
    "COPKMeans",
    "ChosenPairsWarning",
    "ClassNamesWarning",
    "ClassNumberWarning",
    "CleanPairs",
    "ComposedNoise",
    "CopiedAnswersWarning",
    "ItemTable",
    "JointPairClassifier",
    "LabelingNoise",
    "LossCorrectionClassifier",
    "MatrixNoise",
    "NoiseModel",
    "NotIdentifiable",
    "NotIdentifiableWarning",
    "PairKMeans",
    "PairTable",
    "PairingNoise",
    "Pairs",
    "RepeatedItemsWarning",
    "SearchOptions",
    "WeakEstimatorWarning",
    "WeightedPairClassifier",
    "algebra",
    "annotators",
    "choose_pairs",
    "compare",
    "datasets",
    "enough",
    "estimation",
    "experiments",
    "first_pairs",
    "metrics",
    "model_file",
    "model_selection",
    "plan",
    "sample_pairs",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"noisypairs.{_HOME[name]}"), name)
    if name in _MODULES:
        return import_module(f"noisypairs.{name}")
    if name == "nn":
        import_module("noisypairs.errors").warn_user(
            "noisypairs.nn is called noisypairs.torch now: write that", FutureWarning
        )
        return import_module("noisypairs.torch")
    raise AttributeError(f"module 'noisypairs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
