"""What a fit to tables gives back: tables, which the engine writes as Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noisypairs.algebra import Array
from noisypairs.tables import sweep
from noisypairs.tables.engine import errors_naming, load_arrow, load_ibis, tuned_for_sums
from noisypairs.tables.items import ItemTable
from noisypairs.tables.propagation import TablePropagation


@dataclass(frozen=True)
class TableResults:
    """Items, suspects and annotators as Ibis tables, after the last round of a fit.

    ``table`` is that of the items, ``classes`` are their names in the order of the columns,
    ``responses`` is (R or 1, 2, K, K), and ``rates`` are the flip rates of the annotators, (R, 2),
    where they differ.
    """

    propagation: TablePropagation
    table: ItemTable
    classes: tuple[str, ...]
    responses: Array
    rates: Array | None

    @property
    def items(self) -> Any:
        """Every item: id, class, probability, and P(class) for every class."""
        beliefs = self.propagation.beliefs
        proba = {f"p_{k}": one for k, one in enumerate(sweep.proba(beliefs))}
        return classified(beliefs.select("item", **proba), self.table.keys, self.classes)

    @property
    def suspects(self) -> Any:
        """Answers that are probably wrong: left, right, same, annotator, probability, reason."""
        ibis, at = load_ibis(), self.propagation
        wrong = sweep.wrong_answers(at.answers, at.beliefs, self.responses)
        wrong = wrong.filter(wrong.wrong > 0.5)
        proba = {f"p_{k}": one for k, one in enumerate(sweep.proba(at.beliefs))}
        known = at.beliefs.select("item", **proba).inner_join(self.table.keys, "item")
        known = known.select("item", "key", **likeliest(known, self.classes))
        for end in ("left", "right"):
            one = known.select(
                **{
                    end: known.item,
                    f"{end}_id": known.key,
                    f"{end}_class": known["class"],
                    f"{end}_sure": known.probability,
                }
            )
            wrong = wrong.inner_join(one, end)
        names = at.table.annotator_names
        if "who" in wrong.columns and names is not None:
            people = load_arrow().table(
                {"who": np.arange(len(names), dtype=np.int32), "annotator": list(map(str, names))}
            )
            wrong = wrong.inner_join(ibis.memtable(people), "who")
        percent = {
            end: (wrong[f"{end}_sure"] * 100).round().cast("int64").cast("string")
            for end in ("left", "right")
        }
        reason = (
            wrong.same.ifelse('said "same"; probably ', 'said "different"; probably ')
            + wrong.left_class + " (" + percent["left"] + " %) and "
            + wrong.right_class + " (" + percent["right"] + " %)"
        )  # fmt: skip
        who = {"annotator": wrong.annotator} if "annotator" in wrong.columns else {}
        ends = {"left": wrong.left_id, "right": wrong.right_id}
        return wrong.select(
            **ends, same=wrong.same, **who, probability=wrong.wrong, reason=reason
        ).order_by([load_ibis().desc("probability"), "left", "right"])

    @property
    def annotators(self) -> Any | None:
        """Everybody: annotator, answers, how many are expected to be wrong, perhaps flip rates."""
        names = self.propagation.table.annotator_names
        if names is None:
            return None
        of_all = np.broadcast_to(self.responses, (len(names), *self.responses.shape[1:]))
        counts = self.propagation.expected(of_all).counts
        alike = np.eye(counts.shape[-1], dtype=bool)
        wrong = counts[:, 1][:, ~alike].sum(axis=1) + counts[:, 0][:, alike].sum(axis=1)
        columns = {
            "annotator": list(map(str, names)),
            "n_answers": counts.sum(axis=(1, 2, 3)),
            "n_wrong": wrong,
        }
        if self.rates is not None:
            columns |= {"similar_flip": self.rates[:, 0], "dissimilar_flip": self.rates[:, 1]}
        return load_ibis().memtable(load_arrow().table(columns))

    def to_parquet(self, folder: str | Path) -> list[Path]:
        """Let the engine write items.parquet, suspects.parquet and annotators.parquet."""
        tables = {"items": self.items, "suspects": self.suspects, "annotators": self.annotators}
        written = []
        for name, table in tables.items():
            if table is not None:
                path = Path(folder) / f"{name}.parquet"
                store = self.propagation.store
                with errors_naming(str(path)), tuned_for_sums(store.engine, 1):
                    store.write(table, path)
                written.append(path)
        return written


def classified(proba: Any, keys: Any, classes: Sequence[str]) -> Any:
    """Return id, class, probability and P(name) from a table of item and p_0, …, p_{K − 1}."""
    table = proba.inner_join(keys, "item")
    shown = {f"P({name})": table[f"p_{k}"] for k, name in enumerate(classes)}
    return table.select(id=table.key, **likeliest(table, classes), **shown)


def likeliest(table: Any, classes: Sequence[str]) -> dict[str, Any]:
    """Return the likeliest class and its probability as expressions of p_0, p_1, ..."""
    ibis = load_ibis()
    proba = [table[f"p_{k}"] for k in range(len(classes))]
    most = ibis.greatest(*proba)
    cases = [(one == most, name) for one, name in zip(proba, classes, strict=True)]
    return {"class": ibis.cases(*cases), "probability": most}
