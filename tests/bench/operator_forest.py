#!/usr/bin/env python3
"""Abnormal operators: the label-free score against a random forest with labels.

    python3 -m venv /tmp/forest && /tmp/forest/bin/pip install -r tests/bench/operator_forest.txt
    /tmp/forest/bin/python tests/bench/operator_forest.py build/release/fathom [--quick]

Makes labelled logs of simulated jobs (`fathom simulate FILE --operators`), learns a forest as Holmes
(NSDI'25) does, in XGBoost's random-forest mode, and prints one table: precision, recall and F1 of

  label-free         an op is abnormal when it is longer than the median of its key by 3.5 robust
                     standard deviations (median and MAD of well iterations), and by a quarter
  forest             learned on other jobs of the same shape
  forest, shifted    its split thresholds moved with the features, where the job is another one

on jobs it was not trained on. Needs numpy and xgboost; nothing of the build does.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import xgboost as xgb

ONSET = 15
KINDS = {"slow_gpu": 1.5, "slow_host": 1.5, "slow_nic": 6, "slow_nvlink": 6, "slow_process": 1.5}
FEATURES = ["elapsed", "mean", "deviation", "z", "lower_quartile", "upper_quartile", "range",
            "rank", "bytes", "pattern", "kind", "iteration", "window_mean"]
TIMES = [FEATURES.index(f) for f in ("elapsed", "mean", "deviation", "lower_quartile",
                                     "upper_quartile", "range", "iteration", "window_mean")]
SHAPE = {"hidden": 4096, "sequence": 4096, "micro_batches": 4}


def job_text(kind, factor, rank, seed, model):
    return json.dumps({"plan": {"tensor": 4, "pipeline": 2, "data": 8, "sequence_parallel": True},
                       "model": {"layers": 4, **model}, "iterations": ONSET + 5, "seed": seed,
                       "faults": [{"kind": kind, "rank": rank, "factor": factor, "from": ONSET}]})


def log_of(fathom, folder, kind, seed, model):
    file, out = folder / "job.yaml", folder / "ops.csv"
    file.write_text(job_text(kind, KINDS[kind], (seed * 13) % 64, seed, model))
    subprocess.run([fathom, "simulate", file, "--operators", out], check=True)
    return np.loadtxt(out, delimiter=",", skiprows=1)


def features_of(log):
    """Features and labels of the ops from the onset on, with what a key takes in the iterations
    before. A key is a pattern, kind, size and place: what peers do at the same point."""
    iteration, iteration_us, rank, pattern, kind, size, place, elapsed, label = log.T
    _, key = np.unique(np.stack([pattern, kind, size, place], 1), axis=0, return_inverse=True)
    key = key.ravel()
    before = iteration < ONSET
    window_mean = elapsed[before].mean()
    rows = np.zeros((len(log), len(FEATURES)))
    robust = np.zeros((len(log), 2))
    order = np.argsort(key, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
        well = elapsed[at[before[at]]]
        low, middle, high = np.percentile(well, [25, 50, 75])
        mad = 1.4826 * np.median(np.abs(well - middle))
        spread = max(well.std(), 0.01 * well.mean(), 1e-3)
        robust[at] = [middle, max(mad, 0.01 * middle, 1.0)]
        rows[at] = np.stack([elapsed[at], np.full(len(at), well.mean()), np.full(len(at), spread),
                             (elapsed[at] - well.mean()) / spread, np.full(len(at), low),
                             np.full(len(at), high), np.full(len(at), high - low), rank[at],
                             size[at], pattern[at], kind[at], iteration_us[at],
                             np.full(len(at), window_mean)], 1)
    free = ((elapsed - robust[:, 0]) / robust[:, 1] > 3.5) & (elapsed > 1.25 * robust[:, 0])
    now = ~before
    return rows[now], label[now] > 0.5, free[now], rows[before]


def learn(rows, labels):
    params = {"objective": "binary:logistic", "booster": "gbtree", "learning_rate": 1,
              "num_parallel_tree": 100, "subsample": 0.7, "colsample_bynode": 0.5, "max_depth": 10,
              "tree_method": "hist", "seed": 7, "nthread": 1}
    data = xgb.DMatrix(rows, labels.astype(int), feature_names=FEATURES)
    return xgb.train(params, data, num_boost_round=1)


def shifted(forest, learned_on, job):
    """The forest with the thresholds of times multiplied by how much the medians of well iterations
    moved. Nothing is learned again and no label is needed."""
    ratio = np.ones(len(FEATURES))
    ratio[TIMES] = np.median(job[:, TIMES], 0) / np.median(learned_on[:, TIMES], 0)
    model = json.loads(forest.save_raw("json"))
    for tree in model["learner"]["gradient_booster"]["model"]["trees"]:
        for node, feature in enumerate(tree["split_indices"]):
            if tree["left_children"][node] >= 0:
                tree["split_conditions"][node] *= float(ratio[feature])
    moved = xgb.Booster()
    moved.load_model(bytearray(json.dumps(model), "utf-8"))
    return moved


def told_by(forest, rows):
    return forest.predict(xgb.DMatrix(rows, feature_names=FEATURES)) > 0.5


def figures(told, labels):
    right = np.sum(told & labels)
    precision, recall = right / max(1, told.sum()), right / max(1, labels.sum())
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def cell(told, labels):
    precision, recall, f1 = figures(told, labels)
    return f"{f1:.3f} ({precision:.3f}, {recall:.3f})"


def row_of(name, fathom, folder, forest, learned_on, seeds, model):
    told, labels, free, moved = [], [], [], []
    for seed in seeds:
        for kind in KINDS:
            rows, label, score, well = features_of(log_of(fathom, folder, kind, seed, model))
            labels.append(label)
            free.append(score)
            told.append(told_by(forest, rows))
            moved.append(told_by(shifted(forest, learned_on, well), rows))
    labels, free, told, moved = (np.concatenate(x) for x in (labels, free, told, moved))
    print(f"| {name} | {len(labels)} | {100 * labels.mean():.1f} | {cell(free, labels)} "
          f"| {cell(told, labels)} | {cell(moved, labels)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("fathom", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="one seed each")
    options = parser.parse_args()
    fathom = options.fathom.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        seeds = [1] if options.quick else [1, 2, 3]
        parts = [features_of(log_of(fathom, folder, kind, seed, SHAPE))
                 for seed in seeds for kind in KINDS]
        rows, labels = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        learned_on = np.concatenate([part[3] for part in parts])
        forest = learn(rows, labels)
        print("| jobs | ops | abnormal, % | label-free: F1 (precision, recall) | forest | "
              "forest, shifted |\n| --- | --- | --- | --- | --- | --- |")
        seeds = [11] if options.quick else [11, 12, 13]
        for what, model in (("as learned", SHAPE),
                            ("sequences twice as long", {**SHAPE, "sequence": 8192}),
                            ("a model twice as wide", {**SHAPE, "hidden": 8192}),
                            ("half the sequence", {**SHAPE, "sequence": 2048})):
            row_of(what, fathom, folder, forest, learned_on, seeds, model)
    return 0


if __name__ == "__main__":
    sys.exit(main())
