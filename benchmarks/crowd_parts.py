"""Are the right parts of the answer model chosen, and their numbers recovered? Simulated crowds.

    python benchmarks/crowd_parts.py

Twenty crowds of each sort: 60 annotators give 5,000 answers about 300 items of three classes, with
no part, with each part alone, and with all three; and twenty without names of annotators, plain
and with hard items. Prints the tables of docs/people.md.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.metrics import roc_auc_score

from noisypairs import JointPairClassifier, datasets
from noisypairs.estimators import GaussianClasses
from noisypairs.metrics import accuracy_up_to_names
from protocol import machine, mean_error, run

PLAIN = {
    "n_items": 300,
    "n_annotators": 60,
    "pairs_per_item": 5000 / 300,
    "spammer_share": 0.0,
    "similar_flip": 0.2,
    "dissimilar_flip": 0.2,
    "spread": 0.0,
    "lean": 0.0,
}
EFFECTS = {
    "people": {"bias_spread": 0.7, "skill_spread": 0.7},
    "clarity": {"hard_share": 0.2},
    "similarity": {"slope": 1.5},
}
SORTS = {
    "plain": (),
    **{part: (part,) for part in EFFECTS},
    "all": tuple(EFFECTS),
    "plain, nobody named": (),
    "clarity, nobody named": ("clarity",),
}


def draw(sort, seed):
    effects = {}
    for part in SORTS[sort]:
        effects |= EFFECTS[part]
    return datasets.simulated_crowd(**PLAIN, **effects, random_state=seed)


def compared(found, errors, truth):
    """Return how estimates with errors compare with the truth about them, less its mean."""
    centred = truth - truth.mean()
    off = found - found.mean() - centred
    return {
        "correlation": float(np.corrcoef(found, truth)[0, 1]),
        "rmse": float(np.sqrt((off**2).mean())),
        "stated": float(np.sqrt((errors**2).mean())),
        "covered": float((np.abs(off) < 1.645 * errors).mean()),
    }


def task(sort, seed):
    crowd = draw(sort, seed)
    pairs = crowd.pairs
    if "nobody" in sort:
        pairs = type(pairs)(pairs.left, pairs.right, pairs.same, pairs.n_items)
    start = time.process_time()
    model = JointPairClassifier(GaussianClasses(), n_classes=3, random_state=seed)
    model.fit(crowd.data, pairs)
    record = {
        "seconds": time.process_time() - start,
        "parts": list(model.parts_),
        "gains": [vars(gain) for gain in model.part_gains_],
        "items": accuracy_up_to_names(crowd.target, model.item_proba_.argmax(axis=1)),
    }
    if model.people_ is not None:
        people = model.people_
        record["bias"] = compared(people.bias, people.bias_error, crowd.bias)
        record["skill"] = compared(people.skill, people.skill_error, crowd.skill)
        record["spreads"] = [people.bias_spread, people.skill_spread]
    if model.item_hard_ is not None:
        record["share"] = float(model.item_hard_.mean())
        if crowd.hard.any():
            record["auc"] = float(roc_auc_score(crowd.hard, model.item_hard_))
    if model.answer_model_.similarity is not None:
        record["slope"] = model.answer_model_.similarity.slope
    return record


def print_choices(records) -> None:
    print("| crowd | exactly the right parts | of each part, chosen | items right | CPU s |")
    print("|---|---|---|---|---|")
    for sort, parts in SORTS.items():
        mine = [record for record in records if record["cell"]["sort"] == sort]
        right = sum(set(record["parts"]) == set(parts) for record in mine)
        each = [f"{part} {sum(part in one['parts'] for one in mine)}" for part in EFFECTS]
        items, seconds = (mean_error(r[key] for r in mine)[0] for key in ("items", "seconds"))
        shown = f"{right} of {len(mine)} | {', '.join(each)}"
        print(f"| {sort} | {shown} | {100 * items:.1f} % | {seconds:.1f} |")


def print_people(records) -> None:
    print("\n| crowd | number | correlation | rmse | stated error | within 90 % | spread (true) |")
    print("|---|---|---|---|---|---|---|")
    for sort in ("people", "all"):
        mine = [r for r in records if r["cell"]["sort"] == sort and "bias" in r]
        for place, name in enumerate(("bias", "skill")):
            keys = ("correlation", "rmse", "stated")
            means = [f"{mean_error(r[name][key] for r in mine)[0]:.2f}" for key in keys]
            covered = 100 * mean_error(r[name]["covered"] for r in mine)[0]
            spread, error = mean_error(r["spreads"][place] for r in mine)
            true = EFFECTS["people"][f"{name}_spread"]
            shown = f"{covered:.0f} % | {spread:.2f} ± {error:.2f} ({true})"
            print(f"| {sort} | {name} | {' | '.join(means)} | {shown} |")


def print_items_and_slope(records) -> None:
    print("\n| crowd | hard items: AUC | share (true) | slope (true) |\n|---|---|---|---|")
    for sort, parts in SORTS.items():
        mine = [record for record in records if record["cell"]["sort"] == sort]
        shown = []
        truths = {"auc": None, "share": EFFECTS["clarity"]["hard_share"]}
        for key, true in (truths | {"slope": EFFECTS["similarity"]["slope"]}).items():
            values = [record[key] for record in mine if key in record]
            wanted = ("similarity" if key == "slope" else "clarity") in parts
            mean, error = mean_error(values) if values and wanted else (np.nan, np.nan)
            text = f"{mean:.2f} ± {error:.2f}" + (f" ({true})" if true else "")
            shown.append("" if np.isnan(mean) else text)
        if any(shown):
            print(f"| {sort} | {' | '.join(shown)} |")


def main() -> None:
    cells = [{"sort": sort, "seed": seed} for seed in range(20) for sort in SORTS]
    records = run(task, cells, "crowd_parts")
    print(machine(), end="\n\n")
    print_choices(records)
    print_people(records)
    print_items_and_slope(records)


if __name__ == "__main__":
    main()
