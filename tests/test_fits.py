"""Fits are the same on every machine: they converge, ties are shared, and the figures do not ask which kernel added up."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack

from cxgen.measures.fits import Fit, logistic, right

CODE = """
import numpy as np, polars as pl
from cxgen.measures.registry import take
rng = np.random.default_rng(0)
words = np.array([f"w{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}" for i in range(60)])
n = 3000
chosen = rng.pareto(0.7, (n, 9)).astype(int) % 60
label = (chosen[:, 0] + chosen[:, 5] + (rng.random(n) < 0.1)) % 3
rows = pl.DataFrame({
    "config": "nli", "construction": [f"c{i % 2}" for i in range(n)], "contrast_of": pl.Series([None] * n, dtype=pl.String),
    "contrast_set": [f"s{i // 9}" for i in range(n)], "premise": [" ".join(words[r]) for r in chosen[:, :5]],
    "hypothesis": [" ".join(words[r]) for r in chosen[:, 5:]], "label": label, "split": ["train" if i % 3 else "test" for i in range(n)],
    "verb": [f"v{i % 20}" for i in range(n)], "frame": "f", "slots": [[{"lemma": "filler"}]] * n,
})
print([(name, measure["overall"], measure["configs"]) for name, measure in take("nli", rows, 2).items()])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the wheels' OpenBLAS chooses its kernel by this variable on Linux")
def test_every_kernel_gives_the_same_figures():
    kernels = ({}, {"OPENBLAS_CORETYPE": "Nehalem"}, {"OPENBLAS_CORETYPE": "Prescott"})
    runs = [
        subprocess.run([sys.executable, "-c", CODE], env=os.environ | kernel, capture_output=True, text=True, check=True).stdout
        for kernel in kernels
    ]
    assert "cues_transfer" in runs[0]
    assert runs[0] == runs[1] == runs[2]


def test_a_fit_ends_at_the_optimum():
    rng = np.random.default_rng(1)
    features = rng.integers(0, 2, (400, 30)).astype(float)
    labels = (features[:, 0] + 2 * features[:, 1] + (rng.random(400) < 0.2)).astype(int) % 3
    weights = rng.integers(1, 50, 400).astype(float)
    model = logistic().fit(csr_matrix(features), labels, sample_weight=weights)
    off = weights[:, None] * (model.predict_proba(features) - np.eye(3)[labels])
    assert np.abs(model.coef_ + off.T @ features).max() / weights.sum() < 1e-7


def test_labels_that_tie_share_the_item():
    features = csr_matrix(np.ones((1, 1)))
    labels = np.array([0, 1, 2, 0, 1, 2])
    (hits,) = right(Fit(logistic, features, np.zeros(6, dtype=np.int64), labels, [(np.arange(3), np.arange(3, 6))]))
    assert hits == pytest.approx(1 / 3)


def test_columns_that_are_alike_count_as_one():
    from cxgen.measures.cues import _merged

    rng = np.random.default_rng(2)
    single = csr_matrix(rng.integers(0, 2, (60, 5)).astype(float))
    labels = rng.integers(0, 3, 60)
    double = hstack([single, single[:, :2]]).tocsr()
    merged, _ = _merged(double, np.arange(60))
    assert merged.shape == single.shape
    fits = [logistic().fit(matrix, labels).predict_proba(matrix) for matrix in (double, merged)]
    np.testing.assert_allclose(*fits, atol=1e-5)
