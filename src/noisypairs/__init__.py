"""Learn a classifier of items from noisy answers to "are these two the same class?".

Names load their modules when first used: importing the package is cheap, and neither
scikit-learn nor any optional package is imported before it is needed.
"""

from importlib import import_module
from typing import Any

__version__ = "0.3.0"

#: Public names by the module that they load; ``__init__.pyi`` says the same to type checkers.
_ROOMS = {
    "app.judge": "judge",
    "app.plan": "plan",
    "assess": "choose_pairs enough first_pairs",
    "classifier": "JointPairClassifier SearchOptions",
    "errors": "ChosenPairsWarning ClassNamesWarning ClassNumberWarning CopiedAnswersWarning "
    "NotIdentifiable NotIdentifiableWarning RepeatedItemsWarning UnpredictedAnswersWarning "
    "WeakEstimatorWarning",
    "estimators": "COPKMeans LossCorrectionClassifier PairKMeans WeightedPairClassifier",
    "experiments": "compare",
    "noise": "CleanPairs ComposedNoise LabelingNoise MatrixNoise NoiseModel PairingNoise",
    "pairs": "Pairs",
    "sampling": "sample_pairs",
    "tables": "ItemTable PairTable",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
_MODULES = {"algebra", "annotators", "datasets", "estimation", "experiments", "metrics"}
_MODULES |= {"model_file", "model_selection", "theory"}

__all__ = sorted([*_HOME, *_MODULES])


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
