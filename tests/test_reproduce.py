"""jplrdl reproduce: splits as the paper says, parameters without test images, results that survive what happens."""

import csv
import dataclasses
import json
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from jplrdl import JPLRDLClassifier, LowRankCleaner
from jplrdl.datasets import Images
from jplrdl.experiments import CollaborativeRepresentationClassifier, cells, reproduce, tasks
from jplrdl.experiments.cells import Cell, split_images
from jplrdl.experiments.cleaning import cleaners, mirrored, transforms
from jplrdl.experiments.cli import main
from jplrdl.experiments.methods import METHODS, Method, columns
from jplrdl.experiments.protocols import EXPERIMENTS, GROUPS
from jplrdl.experiments.results import Results
from jplrdl.experiments.runner import run_cells
from jplrdl.experiments.studies import STUDIES

SMALL = Cell("synthetic", n_per_class=6, n_classes=4)
WHITE = Cell("synthetic", n_per_class=6, n_classes=4, corruption="pixels", share=0.2)


@parametrize_with_checks([CollaborativeRepresentationClassifier()])
def test_estimator_conventions(estimator, check):
    check(estimator)


def test_collaborative_codes_solve_their_normal_equations(rng):
    X, y = rng.standard_normal((30, 50)), np.arange(30) % 3
    model = CollaborativeRepresentationClassifier(0.1).fit(X, y)
    samples = rng.standard_normal((5, 50))
    unit = [A / np.linalg.norm(A, axis=1, keepdims=True) for A in (X, samples)]
    codes = np.linalg.solve(unit[0] @ unit[0].T + 0.1 * np.eye(30), unit[0] @ unit[1].T).T
    np.testing.assert_allclose(model.encode(samples), codes, atol=1e-12)
    ratios = [
        [np.sum((s - a[y == k] @ unit[0][y == k]) ** 2) / np.sum(a[y == k] ** 2) for k in range(3)]
        for s, a in zip(unit[1], codes, strict=True)
    ]
    np.testing.assert_array_equal(model.predict(samples), np.argmin(ratios, axis=1))
    with pytest.raises(ValueError, match="ridge must be > 0"):
        model.set_params(ridge=0.0).predict(samples)


def ar(n_subjects=3):
    """26 images a subject, conditions 1 to 13 in two sessions; a pixel tells which."""
    condition, session = np.tile(np.arange(1, 14), 2 * n_subjects), np.tile(np.repeat([1, 2], 13), n_subjects)
    X = np.stack([condition, session, np.arange(len(condition)), np.zeros(len(condition))], axis=1).astype(float)
    return Images(X, np.repeat(np.arange(n_subjects), 26), (2, 2), {"condition": condition, "session": session})


@pytest.mark.parametrize(
    ("rule", "disguises", "n_train", "n_test"),
    [("sunglasses", [8, 9, 10], 8, 12), ("scarf", [11, 12, 13], 8, 12), ("mixed", [8, 9, 10, 11, 12, 13], 9, 17)],
)
def test_ar_scenarios_are_the_papers(monkeypatch, rule, disguises, n_train, n_test):
    monkeypatch.setattr(cells, "_load", lambda name, folder: ar())
    split = split_images(Cell("ar", rule), 0)
    assert len(split.X_train) == 3 * n_train
    assert len(split.X_test) == 3 * n_test
    assert (split.X_train[:, 1] == 1).all()
    assert set(split.X_train[:, 0]) == {*range(1, 8), *[d for d in disguises if d in (8, 11)]}
    assert set(split.X_test[split.X_test[:, 0] <= 7, 1]) == {2}
    assert set(split.X_test[split.X_test[:, 0] > 7, 0]) == set(disguises)
    assert not set(split.X_train[:, 2]) & set(split.X_test[:, 2])


@pytest.mark.parametrize(("where", "spoilt"), [("all", (1, 1)), ("train", (1, 0)), ("test", (0, 1))])
def test_corruption_goes_where_the_cell_says(where, spoilt):
    clean, cell = split_images(SMALL, 3), Cell("synthetic", "random", 6, "pixels", 0.25, where, n_classes=4)
    split = split_images(cell, 3)
    for images, original, expected in zip(
        (split.X_train, split.X_test), (clean.X_train, clean.X_test), spoilt, strict=True
    ):
        assert ((images == 255) & (original != 255)).sum(axis=1).max() <= 120
        assert (images == original).all() != bool(expected)
    # Training images held out for cross-validation are spoilt in every case.
    assert ((split.held_in == 255).sum(axis=1) >= 120).all()
    np.testing.assert_array_equal(split.X_test, split_images(cell, 3).X_test)
    assert (split.X_test != split_images(cell, 4).X_test).any()


def test_ar_holds_out_whole_conditions(monkeypatch):
    monkeypatch.setattr(cells, "_load", lambda name, folder: ar())
    folds = tasks._folds(split_images(Cell("ar", "mixed"), 0), 5)
    held_out = [set(out[:, 0]) for _, _, out, _ in folds]
    assert held_out == [{11, 4}, {8, 3}, {7, 2}, {6, 1}, {5}]
    for train, y_train, out, y_out in folds:
        assert not set(train[:, 0]) & set(out[:, 0])
        assert len(train) == len(y_train)
        assert np.bincount(y_out).tolist() == [len(set(out[:, 0]))] * 3


def test_the_first_images_of_each_class_train(monkeypatch):
    monkeypatch.setattr(cells, "_load", lambda name, folder: ar())
    split = split_images(Cell("lfw", "first", 10), 0)
    np.testing.assert_array_equal(split.X_train[:, 2] % 26, np.tile(np.arange(10), 3))


@pytest.mark.parametrize("fields", [{}, {"where": "train", "share": 0.5, "n_classes": 10}])
def test_parameters_come_from_training_images_of_the_first_split_only(monkeypatch, fields):
    whole, white = cells.split_images, dataclasses.replace(WHITE, **fields)

    def without_test(cell, split, folder=None):
        assert split == 0
        return whole(cell, split, folder)._replace(X_test=None, y_test=None)

    monkeypatch.setattr(tasks, "split_images", without_test)
    records = tasks.choose(white, "cleaner", ["CRC", "start"], n_folds=2)
    assert [record["method"] for record in records] == ["CRC", "start"]
    split = whole(white, 0)
    held_in = split.X_train if white.where == "all" else LowRankCleaner().fit_transform(split.X_train)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(split.X_train, split.y_train))[:2]

    def score(cleaner, ridge):
        found = []
        for rest, out in folds:
            fitted = LowRankCleaner(**cleaner)
            train = fitted.fit_transform(split.X_train[rest])
            model = CollaborativeRepresentationClassifier(ridge).fit(train, split.y_train[rest])
            found.append(model.score(fitted.transform(held_in[out]), split.y_train[out]))
        return 100 * np.mean(found)

    (grid,) = METHODS["CRC"].predict_grids
    offered = [
        {**cleaner, **after}
        for cleaner in cleaners("cleaner", split.X_train, split.shape)
        for after in transforms("cleaner")
    ]
    scores = {(k, ridge): score(cleaner, ridge) for k, cleaner in enumerate(offered) for ridge in grid["ridge"]}
    best, ridge = max(scores, key=scores.get)
    assert records[0]["score"] == pytest.approx(scores[best, ridge], abs=1e-3)
    assert records[0]["parameters"] == {"ridge": ridge}
    assert records[0]["cleaner"] == offered[best]


@pytest.mark.parametrize("cleaning", ["fitting cleaner", "mirroring cleaner"])
def test_training_images_are_fitted_as_new_ones_are_and_mirrored(cleaning):
    chosen = {"CRC": {"parameters": {"ridge": 0.01}, "cleaner": {"ridge": 3e-3}}}
    (record,) = tasks.measure(WHITE, 1, cleaning, chosen)
    split = split_images(WHITE, 1)
    cleaner = LowRankCleaner(ridge=3e-3).fit(split.X_train)
    train, y_train = cleaner.transform(split.X_train), split.y_train
    if cleaning == "mirroring cleaner":
        flipped = np.stack([image.reshape(split.shape)[:, ::-1].ravel() for image in split.X_train])
        train, y_train = np.vstack([train, cleaner.transform(flipped)]), np.append(y_train, y_train)
    model = CollaborativeRepresentationClassifier(0.01).fit(train, y_train)
    right = 100 * model.score(cleaner.transform(split.X_test), split.y_test)
    assert record["accuracy"] == pytest.approx(right, abs=1e-3)
    assert right < 100  # so that another answer would be seen


def test_ridges_of_fitted_images_are_chosen_on_folds(tmp_path):
    (record,) = tasks.choose(WHITE, "mirroring cleaner", ["CRC"], n_folds=1, keep=str(tmp_path))
    split = split_images(WHITE, 0)
    rest, out = next(StratifiedKFold(5, shuffle=True, random_state=0).split(split.X_train, split.y_train))
    cleaner = LowRankCleaner(**record["cleaner"]).fit(split.X_train[rest])
    train = np.vstack([split.X_train[rest], mirrored(split.X_train[rest], split.shape)])
    model = CollaborativeRepresentationClassifier(**record["parameters"])
    model.fit(cleaner.transform(train), np.tile(split.y_train[rest], 2))
    score = 100 * model.score(cleaner.transform(split.X_train[out]), split.y_train[out])
    assert record["score"] == pytest.approx(score, abs=1e-3)


def test_features_have_no_mirror_images():
    with pytest.raises(ValueError, match="mirror images need images"):
        mirrored(np.zeros((1, 4)), (4,))


def test_loose_classes_have_a_grid_of_their_own(monkeypatch):
    method = Method(CollaborativeRepresentationClassifier, {}, ({"ridge": (0.1,)},), ({}, ({"ridge": (0.7,)},)))
    monkeypatch.setitem(METHODS, "CRC", method)
    for loose, ridge in ((False, 0.1), (True, 0.7)):
        (record,) = tasks.choose(dataclasses.replace(SMALL, loose=loose), "", ["CRC"], n_folds=1)
        assert record["parameters"] == {"ridge": ridge}


def test_caltech_learns_a_projection_and_both_experiments_share_their_cells():
    table, curve = ({point.cell for point in EXPERIMENTS[name].points} for name in ("caltech", "caltech-training"))
    assert {cell.n_per_class for cell in table & curve} == {15, 30}
    assert all(dict(cell.changes).keys() <= {"lambda_incoherence"} for cell in table | curve)


@pytest.mark.filterwarnings("ignore:n_components = :UserWarning")
def test_remembered_codes_are_the_codes(monkeypatch):
    split = split_images(WHITE, 0)
    model, plain = METHODS["start"].build(), JPLRDLClassifier(max_iter=0)
    coded = []
    encode = JPLRDLClassifier._encode
    monkeypatch.setattr(JPLRDLClassifier, "_encode", lambda self, Y: coded.append(len(Y)) or encode(self, Y))
    for rows in (slice(None), slice(1, None)):
        model.fit(split.X_train[rows], split.y_train[rows])
        plain.fit(split.X_train[rows], split.y_train[rows])
        for penalty in (0.01, 0.03):
            for residual in ("normalized", "paper"):
                for test in (split.X_test, split.X_test[5:]):
                    found = model.set_params(code_penalty=penalty, residual=residual).decision_function(test)
                    expected = plain.set_params(code_penalty=penalty, residual=residual).decision_function(test)
                    np.testing.assert_allclose(found, expected, atol=1e-12)
    coded.clear()
    for residual in ("normalized", "paper"):
        model.set_params(residual=residual).predict(split.X_test)
    assert len(coded) == 1


def test_a_measurement_is_the_accuracy_of_what_was_chosen():
    chosen = {"CRC": {"parameters": {"ridge": 0.003}, "cleaner": {"ridge": 0.01}}}
    (record,) = tasks.measure(WHITE, 2, "cleaner", chosen)
    split = split_images(WHITE, 2)
    cleaner = LowRankCleaner(ridge=0.01)
    model = CollaborativeRepresentationClassifier(0.003).fit(cleaner.fit_transform(split.X_train), split.y_train)
    predicted = model.predict(cleaner.transform(split.X_test))
    assert record["accuracy"] == pytest.approx(100 * np.mean(predicted == split.y_test), abs=1e-3)
    assert record["class_accuracy"] == pytest.approx(100 * balanced_accuracy_score(split.y_test, predicted), abs=1e-3)
    assert record["n_test"] == len(split.y_test)


def test_every_combination_of_every_grid_is_tried_but_for_what_the_cell_fixes():
    grids = ({"a": (1, 2), "b": (3,)}, {"a": (5,), "b": (6, 7)})
    assert tasks._combinations(grids, {}) == [
        {"a": 1, "b": 3}, {"a": 2, "b": 3}, {"a": 5, "b": 6}, {"a": 5, "b": 7},
    ]  # fmt: skip
    assert tasks._combinations(grids, {"a": 9}) == [{"b": 3}, {"b": 6}, {"b": 7}]


def cleaned_anew(monkeypatch):
    """A list that grows with every fit of a cleaner."""
    fitted, fit = [], LowRankCleaner._fit
    monkeypatch.setattr(LowRankCleaner, "_fit", lambda self, X, y: fitted.append(X.shape) or fit(self, X, y))
    return fitted


def test_images_are_cleaned_once_for_all_columns_and_experiments(tmp_path, monkeypatch):
    fitted = cleaned_anew(monkeypatch)
    train = dataclasses.replace(WHITE, where="train")
    keep, chosen = str(tmp_path / "cleaned"), {"CRC": {"parameters": {}, "cleaner": {}}}
    first = tasks.choose(train, "cleaner", ["CRC"], n_folds=2, keep=keep), tasks.measure(train, 1, "cleaner", chosen)
    tasks.measure(train, 1, "cleaner", chosen, keep=keep)
    # The held-out images, four cleaners on two folds, and a split without and with a folder to keep it in.
    assert len(fitted) == 1 + 4 * 2 + 1 + 1
    fitted.clear()
    other = dataclasses.replace(train, changes=(("n_components", 0.5),))
    again = tasks.choose(train, "cleaner", ["CRC"], n_folds=2, keep=keep), tasks.measure(
        train, 1, "cleaner", chosen, keep=keep
    )
    tasks.choose(other, "cleaner", ["start"], n_folds=2, keep=keep)
    assert not fitted
    assert again[0] == first[0]
    assert again[1][0]["accuracy"] == first[1][0]["accuracy"]
    # Another split, share of white pixels, place of them, choice of images or cleaner is cleaned anew.
    changes = [
        (dataclasses.replace(train, **fields), 1, chosen)
        for fields in ({"share": 0.3}, {"where": "test"}, {"n_per_class": 7}, {"n_classes": 3}, {"corruption": "noise"})
    ]
    changes += [(train, 2, chosen), (train, 1, {"CRC": {"parameters": {}, "cleaner": {"ridge": 1e-4}}})]
    for k, (cell, split, choice) in enumerate(changes, 1):
        tasks.measure(cell, split, "cleaner", choice, keep=keep)
        assert len(fitted) == k


def test_classes_of_all_sizes_count_alike():
    right, y = np.array([True, True, True, False]), np.array([0, 0, 0, 1])
    assert tasks._class_accuracy(right, y) == balanced_accuracy_score(y, np.where(right, y, 1 - y)) == 0.5


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    wanted = [(SMALL, columns("1-NN", "CRC"))]
    results = Results(tmp_path / "results.jsonl")
    run_cells(wanted, results, splits=2, n_folds=1)
    first = lines(results.path)
    assert sorted((r["method"], r["split"]) for r in first if r["kind"] == "result") == [
        ("1-NN", 0), ("1-NN", 1), ("CRC", 0), ("CRC", 1),
    ]  # fmt: skip
    whole = results.path.read_bytes()
    # A crash in the middle of the last line: it is cut off, and only what it told is measured again.
    results.path.write_bytes(whole[:-20])
    again = Results(results.path)
    run_cells(wanted, again, splits=3, n_folds=1)
    found = lines(results.path)
    assert found[: len(first) - 1] == first[:-1]
    assert sorted((r["method"], r["split"]) for r in found if r["kind"] == "result") == [
        (method, split) for method in ("1-NN", "CRC") for split in range(3)
    ]
    for method in ("1-NN", "CRC"):
        assert again.accuracies(SMALL.name, "", method)[:2] == results.accuracies(SMALL.name, "", method)
    size = results.path.stat().st_size
    run_cells(wanted, Results(results.path), splits=3, n_folds=1)
    assert results.path.stat().st_size == size


def test_processes_give_what_one_gives(tmp_path):
    found = []
    for n_jobs in (1, 2):
        results = Results(tmp_path / f"{n_jobs}.jsonl")
        run_cells([(WHITE, columns("CRC", "cleaner + CRC"))], results, splits=3, n_folds=1, n_jobs=n_jobs)
        found.append([results.accuracies(WHITE.name, cleaning, "CRC") for cleaning in ("", "cleaner")])
    assert found[0] == found[1]
    assert [len(values) for values in found[0]] == [3, 3]


@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_may_die(tmp_path):
    distributed = pytest.importorskip("distributed", reason="the dask extra is not installed")
    splits, wanted = 12, [(WHITE, columns("CRC", "cleaner + CRC"))]
    local, spread = Results(tmp_path / "local.jsonl"), Results(tmp_path / "dask.jsonl")
    run_cells(wanted, local, splits=splits, n_folds=1)
    killed = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:

        def kill_one():
            # As soon as the first split is there, so that others are under way.
            while not any(record["kind"] == "result" for record in spread):
                time.sleep(0.01)
            worker = cluster.workers[0]
            killed.append(worker.pid)
            os.kill(worker.pid, 9)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        run_cells(wanted, spread, splits=splits, n_folds=1, scheduler=cluster.scheduler_address)
        killer.join(timeout=30)
    assert killed
    for cleaning in ("", "cleaner"):
        assert len(local.accuracies(WHITE.name, cleaning, "CRC")) == splits
        assert spread.accuracies(WHITE.name, cleaning, "CRC") == local.accuracies(WHITE.name, cleaning, "CRC")
    results = [record for record in lines(spread.path) if record["kind"] == "result"]
    assert len(results) == 2 * splits


def test_one_command_makes_tables_pictures_and_a_page(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures need the experiments extra")
    chosen = ["--columns", "1-NN", "cleaner + CRC"]
    assert main(["reproduce", "synthetic", "--quick", "--folds", "1", "--out", str(tmp_path), *chosen]) == 0
    told = capsys.readouterr()
    assert "report.html" in told.out
    assert "splits: 12 of 12, 0 s left" in told.err
    results = Results(tmp_path / "results.jsonl")
    with (tmp_path / "synthetic.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2
    for row in rows:
        cell = next(p.cell for p in EXPERIMENTS["synthetic"].quick().points if p.x == float(row["x"]))
        column = columns(row["column"])[0]
        values = results.accuracies(cell.name, column.cleaning, column.method)
        assert float(row["mean"]) == pytest.approx(np.mean(values))
        assert float(row["std"]) == pytest.approx(np.std(values))
        assert int(row["splits"]) == len(values) == 2
    assert (tmp_path / "synthetic.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 1
    assert "not run: <code>jplrdl reproduce lfw</code>" in page
    assert "http" not in page
    for name in [*EXPERIMENTS, *STUDIES]:
        assert f'id="{name}"' in page


def test_the_page_puts_the_papers_number_beside_ours(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the experiments extra")
    cell = EXPERIMENTS["coil20"].points[0].cell
    made = {"kind": "result", "cell": cell.name, "cleaning": "", "fit_seconds": 1.0}
    Results(tmp_path / "results.jsonl").append(
        {**made, "method": method, "split": split, "accuracy": value}
        for method, values in (("exact", (90.0, 92.0)), ("CRC", (95.0, 95.0)))
        for split, value in enumerate(values)
    )
    page = reproduce("synthetic", out=tmp_path, splits=0, columns=[]).read_text()
    row = next(line for line in page.splitlines() if 'href="#coil20"' in line)
    assert "<td>92.10</td><td>91.00 ± 1.00 (exact, 2 splits)</td><td>95.00 ± 0.00 (CRC, 2 splits)</td>" in row


@pytest.mark.parametrize("name", STUDIES)
def test_studies_draw_what_they_tell(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="pictures need the experiments extra")
    faces = cells._load("synthetic", None)
    monkeypatch.setattr(cells, "_load", lambda *_: faces)
    reproduce(name, out=tmp_path, quick=True)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    if name == "convergence":
        values = [float(row["objective"]) for row in rows if row["images"] == "COIL-20, 20 % pixels"]
        assert (np.diff(values) <= 1e-9 * values[0]).all()
    if name == "algorithm1":
        assert max(float(rows[-1][key]) for key in ("D - J", "Y - AD - E", "A - Z")) < 1e-8
    if name == "weights":
        assert float(rows[0]["mean weight between classes"]) < 0 == float(rows[1]["mean weight between classes"])
        assert float(rows[0]["mean weight in a class"]) > float(rows[2]["mean weight in a class"]) > 0
    if name == "residuals":
        assert all(float(row["own class"]) < float(row["other classes"]) for row in rows)


def test_names_are_told_and_checked(capsys, tmp_path):
    assert main(["reproduce", "--list"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in [*EXPERIMENTS, *STUDIES, *GROUPS])
    assert main(["reproduce", "nonsense", "--out", str(tmp_path)]) == 2
    assert "names must be among yale, " in capsys.readouterr().err


def test_what_is_missing_is_told_before_hours_have_passed(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="pictures need the experiments extra")
    with pytest.raises(ValueError, match=r"columns must be among 1-NN, .*got 'k-NN'"):
        reproduce("coil20", columns=["k-NN"], out=tmp_path)
    monkeypatch.setenv("JPLRDL_DATA", str(tmp_path))
    assert main(["reproduce", "coil20", "--out", str(tmp_path), "--columns", "1-NN"]) == 2
    assert "coil20_32x32.npz is missing" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["reproduce", "synthetic", "--out", str(tmp_path)]) == 2
    assert 'pip install "jplrdl[experiments]"' in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'scheduler needs Dask: pip install "jplrdl\[dask\]"'):
        run_cells([], Results(tmp_path / "results.jsonl"), scheduler="tcp://nowhere:1")


def test_every_table_and_figure_has_cells_that_can_be_told_apart():
    for name, experiment in EXPERIMENTS.items():
        names = [point.cell.name for point in experiment.points]
        assert len(set(names)) == len(names), name
        assert experiment.columns
    numbers = {p.paper for e in EXPERIMENTS.values() for p in e.points}
    papers = (94.61, 88.01, 54.31, 89.30, 64.42, 95.31, 92.85, 94.69, 92.0, 95.12, 93.0, 79.87, 92.1, 56.72, 54.33)
    assert set(papers) <= numbers


def test_the_records_in_the_docs_can_be_gone_on_from():
    results = Results(Path(__file__).parents[1] / "docs" / "reproduction.jsonl")
    cells_by_name = {point.cell.name: point.cell for e in EXPERIMENTS.values() for point in e.points}
    assert len(results.records) > 100
    for record in results:
        cell, key = cells_by_name[record["cell"]], (record["cell"], record["cleaning"], record["method"])
        if record["kind"] == "result":
            assert (results.choice(*key) is not None) == cell.tuned


@pytest.mark.skipif("JPLRDL_DATA" not in os.environ, reason="JPLRDL_DATA does not name a folder of images")
@pytest.mark.parametrize(
    ("name", "n_train", "n_test"),
    [
        ("yale", 760, 1654), ("ar-sunglasses", 800, 1200), ("ar-mixed", 900, 1700), ("lfw", 1430, 2744),
        ("coil20", 200, 1240),
    ],
)
def test_splits_of_real_images_have_the_papers_sizes(name, n_train, n_test):
    split = split_images(EXPERIMENTS[name].points[0].cell, 0)
    assert (len(split.X_train), len(split.X_test)) == (n_train, n_test)
