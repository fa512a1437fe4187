"""Records to link: annotators judged by single pairs, against two classes.

    python benchmarks/linkage.py

Ten crowds of each sort: 60 annotators, 15 % of them weak, answer every candidate pair three times.
"Across": 1,500 groups of one to three records; all pairs inside groups, and 1.5 times as many
between groups at random. "Blocks": 250 blocks of six records each, all pairs inside a block.
"Alike": as across, with 30 features, in which the records of a group are alike but for noise.
Prints the table of docs/people.md: the correlation of J with the truth over annotators, the
mean of J beside the true one, and how often 95 % intervals cover the true J.
"""

from __future__ import annotations

import numpy as np

from noisypairs import NotIdentifiable, Pairs
from noisypairs.annotators import annotator_table
from protocol import machine, mean_error, run

SORTS = ("across", "blocks", "alike")
WAYS = {
    "auto": {"n_classes": "auto"},
    "two classes": {"n_classes": 2, "model": "classes"},
}
N_ANNOTATORS, N_CROWDS = 60, 10
#: Shares of groups of one, two and three records.
SIZES = [0.4, 0.4, 0.2]
#: Features of records that look alike, and how much they differ within a group.
N_COLUMNS, NEAR = 30, 0.5


def across(rng, n_groups=1500):
    """Return the group of each record, and the candidate pairs, (n, 2)."""
    group = np.repeat(np.arange(n_groups), rng.choice(3, n_groups, p=SIZES) + 1)
    inside = np.array([(i, i + d) for d in (1, 2) for i in range(len(group) - d)])
    inside = inside[group[inside[:, 0]] == group[inside[:, 1]]]
    other = rng.integers(len(group), size=(3 * len(inside), 2))
    other = other[group[other[:, 0]] != group[other[:, 1]]][: round(1.5 * len(inside))]
    return group, np.concatenate([inside, other])


def blocks(rng, n_blocks=250, size=6):
    """Return the group of each record, and the candidate pairs, (n, 2)."""
    group, last = [], 0
    for _ in range(n_blocks):
        block = np.repeat(np.arange(size), rng.choice(3, size, p=SIZES) + 1)[:size]
        group.append(last + block)
        last += size
    first, second = np.triu_indices(size, 1)
    start = size * np.arange(n_blocks)[:, None]
    both = np.stack([(start + first).ravel(), (start + second).ravel()], axis=1)
    return np.concatenate(group), both


def draw(sort, seed):
    """Return the answers, what each annotator's are worth, and features if there are any."""
    rng = np.random.default_rng(seed)
    group, candidates = {"blocks": blocks}.get(sort, across)(rng)
    left, right = np.repeat(candidates, 3, axis=0).T
    who = np.argsort(rng.random((len(candidates), N_ANNOTATORS)), axis=1)[:, :3].ravel()
    rates = rng.beta(2, 8, (N_ANNOTATORS, 2))
    weak = rng.random(N_ANNOTATORS) < 0.15
    rates[weak] = rng.uniform(0.3, 0.6, (int(weak.sum()), 2))
    chance = np.where(group[left] == group[right], 1 - rates[who, 0], rates[who, 1])
    same = rng.random(len(left)) < chance
    pairs = Pairs(left, right, same, n_items=len(group), annotator=who)
    return pairs, 1 - rates.sum(axis=1), looks(rng, group) if sort == "alike" else None


def looks(rng, group):
    """Return features of the records, (n, 30)."""
    X = rng.standard_normal((group.max() + 1, N_COLUMNS))[group]
    return X + NEAR * rng.standard_normal(X.shape)


def task(sort, seed):
    pairs, worth, X = draw(sort, seed)
    record = {"n_answers": pairs.n_pairs, "worth": float(worth.mean())}
    for way, settings in WAYS.items():
        try:
            table = annotator_table(pairs, X, n_drop=0, random_state=seed, **settings)
        except NotIdentifiable:
            record[way] = None
            continue
        found = np.array([row.informativeness.estimate for row in table])
        covered = [J in row.informativeness for row, J in zip(table, worth, strict=True)]
        record[way] = {
            "model": table.choice.model,
            "correlation": float(np.corrcoef(found, worth)[0, 1]),
            "mean": float(found.mean()),
            "covered": float(np.mean(covered)),
        }
    return record


def shown(values) -> str:
    mean, error = mean_error(values)
    return f"{mean:.3f} ± {error:.3f}"


def main() -> None:
    cells = [{"sort": sort, "seed": seed} for sort in SORTS for seed in range(N_CROWDS)]
    records = run(task, cells, "linkage")
    print(machine(), end="\n\n")
    print("| crowd | judged by | refused | correlation | mean J | true mean J | covered |")
    print("|---|---|---|---|---|---|---|")
    for sort in SORTS:
        mine = [record for record in records if record["cell"]["sort"] == sort]
        for way in WAYS:
            kept = [record for record in mine if record[way]]
            chosen = sum(one[way]["model"] == "pairs" for one in kept)
            name = f"auto: single pairs {chosen} times" if way == "auto" else way
            if not kept:
                print(f"| {sort} | {name} | {len(mine)} | | | | |")
                continue
            found = {key: [one[way][key] for one in kept] for key in kept[0][way]}
            print(
                f"| {sort} | {name} | {len(mine) - len(kept)} | {shown(found['correlation'])} | "
                f"{shown(found['mean'])} | {shown([one['worth'] for one in kept])} | "
                f"{100 * np.mean(found['covered']):.0f} % |"
            )


if __name__ == "__main__":
    main()
