"""Which bad annotators are detected, and what they cost: simulated crowds, 10 % not honest.

    python benchmarks/annotators.py

Twenty crowds of each sort: 100 annotators give 10,000 answers (long-tailed shares) on 500 items of
three classes; of the ten who are not honest about a quarter each toss a coin, answer always "same",
always "different", or the reverse. The table is made from the answers alone and with features. The
joint learner with rates per annotator is held against the same learner on the pairs that are left
when an oracle removes all who are not honest. Prints the tables of docs/people.md.
"""

from __future__ import annotations

import time

import numpy as np

from noisypairs import JointPairClassifier, NotIdentifiable, datasets
from noisypairs.annotators import KINDS, UNDECIDED, annotator_table
from noisypairs.metrics import accuracy_up_to_names
from protocol import machine, mean_error, run

#: Mean flip rate of honest annotators on both kinds of pairs, and the spread of their skills.
CROWDS = {"clear": (0.1, 0.1, 0.2), "middling": (0.15, 0.15, 0.2), "default": (0.33, 0.27, 0.45)}
N_CLASSES = 3
ENOUGH = 30


def draw(crowd, seed, n_items=500):
    similar, dissimilar, spread = CROWDS[crowd]
    return datasets.simulated_crowd(
        n_items,
        N_CLASSES,
        100,
        20,
        similar_flip=similar,
        dissimilar_flip=dissimilar,
        spread=spread,
        random_state=seed,
    )


def judged(data, X, seed):
    """Return how the verdicts compare with the truth, and how often intervals cover it."""
    start = time.perf_counter()
    try:
        table = annotator_table(data.pairs, X, n_classes=N_CLASSES, n_drop=0, random_state=seed)
    except NotIdentifiable:
        return {"refused": 1}
    record = {"seconds": time.perf_counter() - start}
    truth, rates = data.annotator_kind, data.annotator_rates
    many = np.array([row.n_answers >= ENOUGH for row in table])
    verdict = np.array([row.verdict for row in table])
    named = np.isin(verdict, KINDS[1:])
    bad = truth != "honest"
    record |= {"bad": int((bad & many).sum()), "bad_named": int((bad & many & named).sum())}
    record |= {"right_kind": int((bad & many & (verdict == truth)).sum())}
    record |= {"honest": int((~bad & many).sum()), "honest_named": int((~bad & named).sum())}
    record |= {
        "few_bad": int((bad & ~many).sum()),
        "few_bad_named": int((bad & ~many & named).sum()),
    }
    record |= {"undecided": int((verdict == UNDECIDED).sum())}
    J = 1.0 - rates.sum(axis=1)
    for name, values in (("similar_flip", rates[:, 0]), ("dissimilar_flip", rates[:, 1]), ("J", J)):
        attribute = "informativeness" if name == "J" else name
        covered = [v in getattr(row, attribute) for row, v in zip(table, values, strict=True)]
        record[f"covered_{name}"] = float(np.mean(np.array(covered)[~bad]))
    return record


def task(crowd, seed):
    data = draw(crowd, seed)
    record = {"graph": judged(data, None, seed), "features": judged(data, data.data, seed)}
    honest = data.pairs.select((data.annotator_kind == "honest")[data.pairs.annotator])
    fresh = draw(crowd, 10_000 + seed, n_items=2000)
    for name, pairs, own in (
        ("joint", data.pairs, True),
        ("one noise for all", data.pairs, False),
        ("oracle", honest, True),
    ):
        parts = ["clarity", "similarity", "pair error"]
        model = JointPairClassifier(
            n_classes=N_CLASSES,
            answer_model=["people", *parts] if own else parts,
            random_state=seed,
        )
        model.fit(data.data, pairs)
        record[name] = {
            "items": accuracy_up_to_names(data.target, model.item_proba_.argmax(axis=1)),
            "new": accuracy_up_to_names(fresh.target, model.predict(fresh.data)),
        }
    return record


def views(records, crowd, view):
    """Return what one view says of the crowds of one sort it judged, and how many it refused."""
    mine = [record[view] for record in records if record["cell"]["crowd"] == crowd]
    kept = [one for one in mine if "refused" not in one]
    return kept, len(mine) - len(kept)


def print_verdicts(records) -> None:
    titles = "not honest, named | of the right kind | honest named | undecided | crowds refused"
    print(f"| crowd | from | {titles} |\n|---|---|---|---|---|---|---|")
    for crowd in CROWDS:
        for view in ("graph", "features"):
            kept, refused = views(records, crowd, view)
            keys = ("bad", "bad_named", "right_kind", "honest_named", "undecided")
            count = {key: sum(one[key] for one in kept) for key in keys}
            print(
                f"| {crowd} | {view} | {count['bad_named']} of {count['bad']} | "
                f"{count['right_kind']} | {count['honest_named']} of {90 * len(kept)} | "
                f"{count['undecided']} | {refused} |"
            )


def print_coverage(records) -> None:
    print("\n| crowd | from | similar_flip | dissimilar_flip | J | seconds |")
    print("|---|---|---|---|---|---|")
    for crowd in CROWDS:
        for view in ("graph", "features"):
            kept, _ = views(records, crowd, view)
            if kept:
                keys = ("covered_similar_flip", "covered_dissimilar_flip", "covered_J")
                shares = [f"{100 * np.mean([one[key] for one in kept]):.0f} %" for key in keys]
                seconds = np.mean([one["seconds"] for one in kept])
                print(f"| {crowd} | {view} | {' | '.join(shares)} | {seconds:.1f} |")


def print_accuracy(records) -> None:
    names = ("oracle", "joint", "one noise for all")
    print(f"\n| crowd | items | {' | '.join(names)} | oracle − joint |\n|---|---|---|---|---|---|")
    for crowd in CROWDS:
        mine = [r for r in records if r["cell"]["crowd"] == crowd]
        for which in ("items", "new"):
            means = [f"{mean_error(100 * r[name][which] for r in mine)[0]:.2f}" for name in names]
            gap, error = mean_error(100 * (r["oracle"][which] - r["joint"][which]) for r in mine)
            shown = "compared" if which == "items" else "new"
            print(f"| {crowd} | {shown} | {' | '.join(means)} | {gap:.2f} ± {error:.2f} |")


def main() -> None:
    cells = [{"crowd": crowd, "seed": seed} for crowd in CROWDS for seed in range(20)]
    records = run(task, cells, "annotators")
    print(machine(), end="\n\n")
    print_verdicts(records)
    print_coverage(records)
    print_accuracy(records)


if __name__ == "__main__":
    main()
