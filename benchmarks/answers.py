"""What each kind of answer is worth, and judges with known pairs: the figures of docs/answers.md.

    python benchmarks/answers.py [--print]

Bits are the mutual information of one answer and the truth of its pair ("same" or not), from the
joint counts of recorded answers (shared data, not in the package): dogs3 for yes and no and for
photos sorted at once, the English word usage graphs for grades, two sets of 28 language models as
judges, who answer in free words or with one. Then 150 pairs of each set of judges are known, ten
draws: how often 95 % intervals of both rates cover those on all pairs, how wide they are beside
Wilson's from the known pairs alone, and by how many points the judge with the highest accuracy
misses the best one. Without known pairs, rates are open.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from noisypairs import Pairs
from noisypairs.annotators import annotator_table
from noisypairs.annotators.crowd import gold_rates
from noisypairs.app.judge.asking import meaning
from noisypairs.pairs.pairs import keys_of
from protocol import run

DATA = Path(os.environ.get("NOISYPAIRS_DATA", "data"))
SETS = ("abt_buy", "amazon_google")
N_KNOWN, N_DRAWS = 150, 10


def bits(answer, truth):
    """Return the mutual information of answers and truths, in bits."""
    table = pd.crosstab(np.asarray(answer), np.asarray(truth)).to_numpy(float)
    share = table / table.sum()
    alone = share.sum(axis=1, keepdims=True) * share.sum(axis=0)
    known = share > 0
    return float((share[known] * np.log2(share[known] / alone[known])).sum())


def judged(name):
    """Return the answers of judges as a table."""
    return pd.read_csv(DATA / "judges" / f"llm_{name}_pairs.csv")


def words(rows):
    """Return the bits of answers in free words, read by the rules, and of one word asked for."""
    free = rows.judge.str.endswith("free")
    some = rows[free].answer.astype(str)
    said = {text: meaning(text) or "not read" for text in some.unique()}
    read = some.map(said)
    return {
        "free words": bits(read, rows[free].true_same),
        "one word": bits(rows[~free].same, rows[~free].true_same),
        "not read": float((read == "not read").mean()),
    }


def worth(kind):
    """Return the bits of one kind of answer."""
    if kind == "grades":
        rows = pd.read_csv(DATA / "grades" / "dwug_en_judgments.csv")
        rows = rows[rows.cluster_same.notna()]
        decided = rows[rows.judgment > 0]
        shares = pd.crosstab(decided.cluster_same, decided.judgment, normalize="index")
        return {
            "grade": bits(decided.judgment, decided.cluster_same),
            "cut": bits(decided.judgment >= 3, decided.cluster_same),
            "unsure": bits(rows.judgment == 0, rows.cluster_same),
            "shares": shares.to_numpy().round(4).tolist(),
        }
    if kind == "sorted":
        rows = pd.read_csv(DATA / "crowd_dogs3" / "pairs.csv")
        found = {}
        for name, some in rows.groupby("query_type"):
            found[str(name)] = bits(some.same, some.true_same)
        return found
    if kind == "words":
        return {name: words(judged(name)) for name in SETS}
    found = {}
    for name in SETS:
        rows = judged(name)
        pair = rows.groupby(["item_a", "item_b"])
        votes, truth = pair.same.sum(), pair.true_same.first()
        each = [bits(one.same, one.true_same) for _, one in rows.groupby("judge")]
        found[name] = {
            "one judge": float(np.mean(each)),
            "best judge": float(max(each)),
            "all judges": bits(votes, truth),
        }
    return found


def with_known_pairs(name, draw):
    """Return coverage, width beside known pairs alone, and the points lost by the pick."""
    rows = judged(name)
    ids = {one: k for k, one in enumerate(sorted({*rows.item_a, *rows.item_b}))}
    left, right = rows.item_a.map(ids).to_numpy(), rows.item_b.map(ids).to_numpy()
    said = rows.same.to_numpy(bool)
    pairs = Pairs(left, right, said, n_items=len(ids), annotator=rows.judge.to_numpy())
    truth = rows.true_same.to_numpy(bool)
    keys, place = np.unique(keys_of(pairs), return_inverse=True)
    some = np.random.default_rng(draw).choice(len(keys), N_KNOWN, replace=False)
    known = np.where(np.isin(place, some), truth, -1).astype(np.int8)
    table = annotator_table(pairs, known=known, model="pairs", n_drop=0, random_state=0)
    alone = gold_rates(pairs, known)
    inside, ratio = {}, {}
    for rate, of in (("similar_flip", truth), ("dissimilar_flip", ~truth)):
        hits, widths, before = [], [], []
        for r, (row, gold) in enumerate(zip(table.rows, alone, strict=True)):
            mine = (pairs.annotator == r) & of
            value = float((pairs.same != truth)[mine].mean())
            one, other = getattr(row, rate), getattr(gold, rate)
            hits.append(one.low - 1e-9 <= value <= one.high + 1e-9)
            widths.append(one.high - one.low)
            before.append(other.high - other.low)
        inside[rate], ratio[rate] = float(np.mean(hits)), float(np.mean(widths) / np.mean(before))
    right_share = [float((pairs.same == truth)[pairs.annotator == r].mean()) for r in range(28)]
    pick = int(np.argmax([row.accuracy for row in table.rows]))
    return {
        "inside": inside,
        "ratio": ratio,
        "lost": max(right_share) - right_share[pick],
        "together": table.together.to_dict(),
    }


def task(kind, name=None, draw=None):
    return worth(kind) if name is None else with_known_pairs(name, draw)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    cells = [{"kind": kind} for kind in ("grades", "sorted", "judges", "words")]
    cells += [{"kind": "known", "name": n, "draw": d} for n in SETS for d in range(N_DRAWS)]
    found = run(task, [] if parser.parse_args().only_print else cells, "answers")
    by_kind = {one["cell"]["kind"]: one for one in found if "name" not in one["cell"]}
    grades, rows = by_kind["grades"], by_kind["sorted"]
    print("bits of one answer about 'same'")
    print(f"  a grade of 1 to 4   {grades['grade']:.3f}")
    print(f"  cut to yes or no    {grades['cut']:.3f}")
    print(f"  unsure or not       {grades['unsure']:.3f}")
    for name in sorted(set(rows) - {"cell", "made"}):
        print(f"  {name:19} {rows[name]:.3f}")
    for name in SETS:
        one = by_kind["judges"][name]
        print(f"  {name:19} " + "   ".join(f"{what} {value:.3f}" for what, value in one.items()))
    for name in SETS:
        one = by_kind["words"][name]
        print(
            f"  {name:19} free words {one['free words']:.3f} ({one['not read']:.1%} are not read)"
        )
        print(f"  {name:19} one word asked for {one['one word']:.3f}")
    print(f"judges with {N_KNOWN} known pairs, {N_DRAWS} draws")
    for name in SETS:
        of = [one for one in found if one["cell"].get("name") == name]
        for rate in ("similar_flip", "dissimilar_flip"):
            inside = np.mean([one["inside"][rate] for one in of])
            ratio = np.mean([one["ratio"][rate] for one in of])
            print(f"  {name:14} {rate:16} covered {inside:.2f}, {ratio:.2f} as wide")
        lost = 100 * np.mean([one["lost"] for one in of])
        effective = np.mean([one["together"]["effective"] for one in of])
        correlation = np.mean([one["together"]["correlation"] for one in of])
        print(
            f"  {name:14} the judge picked is {lost:.1f} points behind the best; 28 are worth "
            f"{effective:.1f} (correlation {correlation:.2f})"
        )


if __name__ == "__main__":
    main()
