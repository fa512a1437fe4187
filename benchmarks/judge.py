"""Recorded language models as judges, replayed through ``judge``: the figures of docs/judges.md.

    python benchmarks/judge.py [--print]

Two sets of product titles (shared data, not in the package): 28 judges, which are seven models with
four prompts each, answered about 1,200 pairs. Three of them (one prompt of three models, an answer
for each pair and more on those in doubt), seven that answer every pair (one prompt of all models),
or all 28 answer first; then 100 pairs, drawn at random, are answered by people, thirty draws (ten
of 28 judges). Counted are how often the 95 % intervals of both rates cover those on all pairs
asked, and whether the 90 % interval of the accuracy covers that on the pairs which no person
answered, both with standard errors over draws. Before: what the judges' answers claim by
themselves, and whether anything is stated.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from noisypairs import judge
from protocol import mean_error, run

DATA = Path(os.environ.get("NOISYPAIRS_DATA", "data"))
SETS, N_KNOWN = ("abt_buy", "amazon_google"), 100
#: Draws of known pairs by the number of judges.
N_DRAWS = {"3": 30, "7": 30, "28": 10}
THREE = tuple(
    f"{model}/complex-force" for model in ("gpt-4o-mini-00", "llama-8b-03", "llama-8b-05")
)


def recorded(name):
    """Return the titles, the pairs with their truth, and what each judge said to a pair."""
    rows = pd.read_csv(DATA / "judges" / f"llm_{name}_pairs.csv")
    items = pd.read_csv(DATA / "judges" / f"llm_{name}_items.csv").set_index("item")
    pair = [frozenset(both) for both in zip(rows.item_a, rows.item_b, strict=True)]
    said = dict(zip(zip(rows.judge, pair, strict=True), rows.same == 1, strict=True))
    truth = dict(zip(pair, rows.true_same == 1, strict=True))
    return items, truth, said


def replay(said, name):
    return lambda left, right: bool(said[name, frozenset((left.id, right.id))])


def task(name, who):
    items, truth, said = recorded(name)
    every = sorted({one for one, _ in said})
    seven = [one for one in every if one.endswith("/complex-force")]
    names = {"3": list(THREE), "7": seven, "28": every}[who]
    pairs = sorted(tuple(sorted(both)) for both in truth)
    judges = {one: replay(said, one) for one in names}
    # A target that no claim reaches lets all seven answer every pair.
    settings = {"pairs": pairs, "budget": 10**6, "repeat": 0.0, "parallel": 1}
    settings["target"] = 0.95 if who == "3" else 1.0 - 1e-9
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "answers.db"
        alone = judge(items, judges, store, **settings)
        chance = alone.pairs.same
        calls = right_share(alone.pairs, truth)
        record = {
            "n_answers": alone.n_replies,
            "alone": {
                "claimed": float(np.maximum(chance, 1 - chance).mean()),
                "right": calls,
                "stated": alone.accuracy is not None or bool(alone.rates),
            },
            "draws": [],
        }
        for draw in range(N_DRAWS[who]):
            again = Path(folder) / f"{draw}.db"
            shutil.copy(store, again)
            rng = np.random.default_rng(draw)
            known = [pairs[k] for k in rng.choice(len(pairs), N_KNOWN, replace=False)]
            gold = Path(folder) / f"{draw}.csv"
            told = [(*both, int(truth[frozenset(both)])) for both in known]
            pd.DataFrame(told, columns=["left", "right", "same"]).to_csv(gold, index=False)
            found = judge(items, judges, again, gold=gold, **settings)
            record["draws"].append(judged(found, truth, known))
    return record


def right_share(table, truth, without=()):
    ends = [frozenset(both) for both in zip(table.left, table.right, strict=True)]
    out = {frozenset(both) for both in without}
    same = dict(zip(ends, table.same > 0.5, strict=True))
    return float(np.mean([same[e] == truth[e] for e in ends if e not in out]))


def judged(found, truth, known):
    """Return how one draw's statements compare with the truth."""
    record = {"right": right_share(found.pairs, truth, known)}
    record["accuracy"] = [found.accuracy.estimate, found.accuracy.low, found.accuracy.high]
    answers = found.answers[found.answers.annotator.isin(found.rates)]
    ends = [frozenset(both) for both in zip(answers.left, answers.right, strict=True)]
    of = np.array([truth[one] for one in ends])
    wrong = (answers.answer == "same").to_numpy() != of
    for k, mask in enumerate((of, ~of)):
        inside, width = [], []
        for name, both in found.rates.items():
            mine = mask & (answers.annotator == name).to_numpy()
            value = float(wrong[mine].mean())
            low, high = (0.0, 1.0) if both[k] is None else (both[k].low, both[k].high)
            inside.append(low - 1e-9 <= value <= high + 1e-9)
            width.append(high - low)
        record[("similar_flip", "dissimilar_flip")[k]] = [
            float(np.mean(inside)),
            float(np.mean(width)),
        ]
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    cells = [{"name": name, "who": who} for who in N_DRAWS for name in SETS]
    records = run(task, [] if parser.parse_args().only_print else cells, "judge")
    print(
        "| set | judges | answers | claimed | right | stated | covered | interval | right | ",
        end="",
    )
    print("missed: covered, width | mixed: covered, width |\n|" + "---|" * 11)
    for record in records:
        cell, alone, draws = record["cell"], record["alone"], record["draws"]
        inside = [one["accuracy"][1] <= one["right"] <= one["accuracy"][2] for one in draws]
        _, low, high = np.mean([one["accuracy"] for one in draws], axis=0)
        right = np.mean([one["right"] for one in draws])
        cells = [cell["name"], cell["who"], f"{record['n_answers']:,}", f"{alone['claimed']:.3f}"]
        cells += [f"{alone['right']:.3f}", "yes" if alone["stated"] else "nothing"]
        cells += [f"{sum(inside)} of {len(draws)}", f"{low:.3f} to {high:.3f}", f"{right:.3f}"]
        for rate in ("similar_flip", "dissimilar_flip"):
            covered, error = mean_error(one[rate][0] for one in draws)
            width = np.mean([one[rate][1] for one in draws])
            cells.append(f"{covered:.2f} ± {error:.2f}, {width:.2f}")
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
