"""Test errors on the very splits on which the authors' own code was run, side by side.

``python benchmarks/authors_results.py FOLDER`` reads octave_results.csv and octave_splits.npz from FOLDER, fits the
same algorithms with the same number of rules on the same training, validation and test rows (with other random numbers:
the authors' are not recorded; `--seeds` fits are averaged), and prints, per algorithm, both mean test RMSE, their mean
difference over the splits and its standard error. For single fits on other datasets the errors are pooled as logarithms
of the ratio. ``TAKAGI_DATA`` names the folder of the datasets.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from takagi.datasets import list_datasets, load_dataset
from takagi.experiments import ALGORITHMS
from takagi.experiments._plan import make_run
from takagi.experiments._run import TrainValTest, fit_and_score, standardize

NAMES = {"FCM-RDpA1": "FCM-RDpA'", "FCM-RDpA2": "FCM-RDpA''", "Abalone-onehot": "Abalone-OH"}


def load(dataset):
    X, y = load_dataset(dataset, return_X_y=True)
    return standardize(X), y - y.mean()


def fit_alike(row, data, splits, seeds):
    """Return the mean test RMSE of our fits on the split of one fit of theirs."""
    partition = TrainValTest(*(splits[f"{row.dataset}__{row.repeat}__{part}"] for part in ("train", "val", "test")))
    run = make_run(NAMES.get(row.dataset, row.dataset), row.repeat, NAMES.get(row.algorithm, row.algorithm), row.R)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean([fit_and_score(run, *data, partition, seed).rmse_test for seed in range(seeds)])


def compare(theirs, splits, seeds):
    data = {name: load(NAMES.get(name, name)) for name in theirs["dataset"].unique()}
    rows = list(theirs.itertuples())
    ours = Parallel(-1, prefer="processes")(delayed(fit_alike)(row, data[row.dataset], splits, seeds) for row in rows)
    return theirs.assign(ours=ours)


def summarize(table, by):
    """Return means, their difference, its standard error, and how many standard errors it is."""
    out = []
    for key, part in table.groupby(by, sort=False):
        difference = part["ours"] - part["rmse_test"]
        error = difference.std() / np.sqrt(len(part))
        ratio = np.log(part["ours"] / part["rmse_test"])
        pooled = ratio.mean() / (ratio.std() / np.sqrt(len(part))) if ratio.std() > 1e-9 else 0.0
        means = part["rmse_test"].mean(), part["ours"].mean(), difference.mean()
        out.append([*np.atleast_1d(key), len(part), *means, error, np.exp(ratio.mean()), pooled])
    columns = [*by, "fits", "authors", "takagi", "difference", "std_error", "ratio", "t_of_log_ratio"]
    return pd.DataFrame(out, columns=columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=8, help="fits per split, averaged")
    parser.add_argument("--results", default="octave_results.csv", help="or numpy_results.csv")
    arguments = parser.parse_args()
    theirs = pd.read_csv(arguments.folder / arguments.results)
    known = theirs["algorithm"].map(lambda name: NAMES.get(name, name) in ALGORITHMS)
    theirs = theirs[known & theirs["dataset"].map(lambda name: NAMES.get(name, name) in list_datasets())]
    splits = dict(np.load(arguments.folder / "octave_splits.npz"))
    table = compare(theirs, splits, arguments.seeds)
    here = table["dataset"] == "Concrete-CS"
    with pd.option_context("display.width", 120, "display.float_format", "{:.3f}".format):
        print("Concrete-CS")
        print(summarize(table[here], ["algorithm", "R"]).to_string(index=False))
        print("\nThe other sets, pooled")
        print(summarize(table[~here], ["algorithm"]).to_string(index=False))


if __name__ == "__main__":
    main()
