"""Write the files that every later version must load: run once for a format, with the version that introduced it."""

import json
from pathlib import Path

import numpy as np

import jplrdl
from jplrdl import JPLRDLClassifier, LowRankCleaner

FOLDER = Path(__file__).parent


def main():
    rng = np.random.default_rng(0)
    y = np.repeat(np.array(["ape", "bee", "cat"], dtype=object), 5)
    X = np.repeat(rng.random((3, 12)), 5, axis=0) + 0.2 * rng.random((15, 12))
    new = X[::3] + 0.1 * rng.random((5, 12))
    classifier = JPLRDLClassifier(4, max_iter=2).fit(X, y)
    cleaner = LowRankCleaner(mode="class", image_shape=(3, 4)).fit(X, y)
    answers = {"classifier": classifier.decision_function(new), "cleaner": cleaner.transform(new)}
    for name, model in (("classifier", classifier), ("cleaner", cleaner)):
        stem = FOLDER / f"{name}-{jplrdl.__version__}"
        model.save(stem.with_name(stem.name + ".npz"))
        told = {"X": new.tolist(), "answer": answers[name].tolist(), "labels": classifier.predict(new).tolist()}
        stem.with_name(stem.name + ".json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
