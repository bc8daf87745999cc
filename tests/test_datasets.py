"""Image sets: read as their authors distribute them, corrupted by exact shares, and faces with a known truth."""

import numpy as np
import pytest

from jplrdl import LowRankCleaner
from jplrdl.datasets import (
    add_uniform_noise,
    cover_blocks,
    lbp_histograms,
    load_images,
    saturate_pixels,
    synthetic_faces,
)
from jplrdl.datasets.corruption import block_shape
from jplrdl.saturation import scattered_value


def test_noise_is_uniform_up_to_the_images_own_largest_pixel(rng):
    X = np.full((40, 1000), 100.0)
    X[20:] = 10.0
    noisy = add_uniform_noise(X, 0.3, random_state=0)
    changed = noisy != X
    assert (changed.sum(axis=1) == 300).all()
    for rows, largest in ((slice(0, 20), 100.0), (slice(20, 40), 10.0)):
        values = np.sort(noisy[rows][changed[rows]]) / largest
        # Kolmogorov's distance to the uniform distribution, 6000 values: 0.021 is passed once in a hundred.
        assert np.abs(values - np.linspace(0, 1, len(values))).max() < 0.021
    np.testing.assert_array_equal(noisy, add_uniform_noise(X, 0.3, random_state=0))
    with pytest.raises(ValueError, match="share must lie in"):
        add_uniform_noise(X, -0.1)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.5, 0.6])
@pytest.mark.parametrize("shape", [(55, 48), (55, 40), (32, 32), (60, 54)])
def test_blocks_cover_their_share(shape, share):
    tall, wide = block_shape(share, shape)
    assert tall <= shape[0]
    assert wide <= shape[1]
    assert abs(tall * wide / (shape[0] * shape[1]) - share) <= 0.025 * share
    assert max(tall, wide) / min(tall, wide) <= 1.5 + 1e-9


def test_blocks_are_pieces_of_photographs_at_random_places(rng):
    X, shape = np.full((60, 30 * 20), -1.0), (30, 20)
    photographs = rng.random((3, 40, 50))
    covered = cover_blocks(X, 0.25, shape, photographs=photographs, random_state=3).reshape(60, *shape)
    tall, wide = block_shape(0.25, shape)
    corners = []
    windows = np.lib.stride_tricks.sliding_window_view(photographs, (tall, wide), axis=(1, 2)).reshape(-1, tall * wide)
    firsts = {window[0]: window for window in windows}
    for image in covered:
        rows, columns = np.nonzero(image != -1)
        corners.append((rows.min(), columns.min()))
        assert len(rows) == tall * wide
        block = image[rows.min() : rows.min() + tall, columns.min() : columns.min() + wide]
        np.testing.assert_array_equal(firsts[block[0, 0]], block.ravel())
    assert len(set(corners)) > 30
    assert {0, 30 - tall} <= {row for row, _ in corners} <= set(range(30 - tall + 1))
    np.testing.assert_array_equal(cover_blocks(X, 0.0, shape), X)


def test_blocks_say_what_is_wrong():
    with pytest.raises(ValueError, match="image_shape must be"):
        cover_blocks(np.zeros((2, 12)), 0.5, (5, 2))
    with pytest.raises(ValueError, match="photographs must be at least as large as a block"):
        cover_blocks(np.zeros((2, 100)), 0.5, (10, 10), photographs=np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="share must lie in"):
        cover_blocks(np.zeros((2, 100)), 2.0, (10, 10))


def test_photographs_of_scikit_learn_are_the_default():
    pytest.importorskip("PIL", reason="reading photographs needs Pillow")
    covered = cover_blocks(np.full((4, 55 * 48), -1.0), 0.6, (55, 48), random_state=0)
    assert ((covered != -1).sum(axis=1) == round(0.6 * 55 * 48)).all()
    assert 0 <= covered[covered != -1].min() <= covered.max() <= 255


def test_faces_without_shadows_have_rank_three_a_subject():
    faces = synthetic_faces(5, 12, (20, 16), random_state=1)
    assert faces.X.shape == (60, 320)
    assert faces.X.min() >= 0
    assert faces.X.max() <= 255 + 1e-9
    for subject in range(5):
        truth = faces.more["low_rank"][faces.y == subject]
        assert np.linalg.matrix_rank(truth) == 3
        # What is not in shadow is the truth, and linear in the light.
        np.testing.assert_array_equal(np.maximum(truth, 0), faces.X[faces.y == subject])
        light = faces.more["light"][faces.y == subject]
        np.testing.assert_allclose(truth, light @ np.linalg.lstsq(light, truth, rcond=None)[0], atol=1e-9)
    assert (synthetic_faces(3, 4, spread=0.0, random_state=0).more["low_rank"] >= 0).all()
    np.testing.assert_array_equal(faces.X, synthetic_faces(5, 12, (20, 16), random_state=1).X)


def test_the_cleaner_finds_the_truth_under_white_pixels():
    faces = synthetic_faces(4, 25, (24, 20), spread=0.2, random_state=0)
    truth = faces.more["low_rank"]
    corrupted = saturate_pixels(faces.X, 0.1, random_state=0)
    cleaned = LowRankCleaner().fit_transform(corrupted)
    assert np.linalg.norm(cleaned - truth) < 0.15 * np.linalg.norm(corrupted - truth)


def uniform_histogram(image, centre_rows, centre_columns, radius):
    """The definition, pixel by pixel."""
    histogram = np.zeros(59)
    uniform = [p for p in range(256) if bin(p ^ ((p << 1 | p >> 7) & 255)).count("1") <= 2]
    for r in centre_rows:
        for c in centre_columns:
            pattern = 0
            for k in range(8):
                y, x = r - radius * np.sin(np.pi * k / 4), c + radius * np.cos(np.pi * k / 4)
                y0, x0 = int(np.floor(y + 1e-9)), int(np.floor(x + 1e-9))
                fy, fx = y - y0, x - x0
                y1, x1 = min(y0 + 1, image.shape[0] - 1), min(x0 + 1, image.shape[1] - 1)
                value = (image[y0, x0] * (1 - fy) * (1 - fx) + image[y0, x1] * (1 - fy) * fx) + (
                    image[y1, x0] * fy * (1 - fx) + image[y1, x1] * fy * fx
                )
                pattern |= int(value >= image[r, c] - 1e-9) << k
            histogram[uniform.index(pattern) if pattern in uniform else 58] += 1
    return histogram


def test_binary_patterns_follow_their_definition(rng):
    images = rng.integers(0, 256, (3, 14, 13)).astype(float)
    found = lbp_histograms(images.reshape(3, -1), (14, 13), 6)
    assert found.shape == (3, 2 * 2 * 59)
    for image, histograms in zip(images, found.reshape(3, 2, 2, 59), strict=True):
        for i in range(2):
            for j in range(2):
                rows, columns = range(2 + 3 * i, 8 + 3 * i), range(2 + 3 * j, 8 + 3 * j)
                expected = uniform_histogram(image, rows, columns, 2.0) / 36
                np.testing.assert_allclose(histograms[i, j] ** 2, expected, atol=1e-12)
    brighter = lbp_histograms(2 * images.reshape(3, -1) + 5, (14, 13), 6)
    np.testing.assert_array_equal(brighter, found)
    with pytest.raises(ValueError, match="cell must be at most"):
        lbp_histograms(images.reshape(3, -1), (14, 13), 12)


def write_pgm(path, image):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"P5\n# a comment\n%d %d\n255\n" % image.shape[::-1] + image.astype(np.uint8).tobytes())


def test_cropped_yale_is_read_from_its_tree(tmp_path, rng):
    for subject in (2, 11):
        for azimuth, elevation in ((-5, 10), (120, -20)):
            image = np.full((192, 168), subject * 10 + (azimuth > 0))
            name = f"yaleB{subject:02d}"
            write_pgm(tmp_path / f"CroppedYale/{name}/{name}_P00A{azimuth:+04d}E{elevation:+03d}.pgm", image)
    write_pgm(tmp_path / "CroppedYale/yaleB02/yaleB02_P00_Ambient.pgm", np.zeros((480, 640)))
    images = load_images("extended_yale_b", tmp_path)
    assert images.shape == (55, 48)
    np.testing.assert_array_equal(images.y, [0, 0, 1, 1])
    np.testing.assert_array_equal(images.X[:, 0], [20, 21, 110, 111])
    np.testing.assert_array_equal(images.more["azimuth"], [-5, 120, -5, 120])
    np.testing.assert_array_equal(images.more["elevation"], [10, -20, 10, -20])
    (tmp_path / "CroppedYale/yaleB11/yaleB11_P00A+000E+00.pgm").write_bytes(b"P5 4 4 255\n123")
    with pytest.raises(ValueError, match="must hold 4 x 4 pixels, got 3"):
        load_images("extended_yale_b", tmp_path)


def test_coil_is_read_from_its_pictures(tmp_path):
    pictures = pytest.importorskip("PIL.Image", reason="reading PNG files needs Pillow")
    (tmp_path / "coil-20-proc").mkdir()
    (tmp_path / "coil-100").mkdir()
    for thing in (1, 2, 10):
        grey = np.zeros((128, 128), dtype=np.uint8)
        grey[:64] = 20 * thing
        pictures.fromarray(grey).save(tmp_path / f"coil-20-proc/obj{thing}__3.png")
        pictures.fromarray(np.dstack([grey] * 3)).save(tmp_path / f"coil-100/obj{thing}__15.png")
    for name, key, value in (("coil20", "view", 3), ("coil100", "angle", 15)):
        images = load_images(name, tmp_path)
        assert images.shape == (32, 32)
        np.testing.assert_array_equal(images.y, [0, 1, 9])
        np.testing.assert_array_equal(images.X[:, 0], [20, 40, 200])
        np.testing.assert_array_equal(images.X[:, -1], 0)
        np.testing.assert_array_equal(images.more[key], value)


def test_lfw_is_read_from_scikit_learns_cache(tmp_path):
    pictures = pytest.importorskip("PIL.Image", reason="reading JPEG files needs Pillow")
    for person, count in (("Ann_Example", 11), ("Bob_Few", 10)):
        folder = tmp_path / "lfw_home/lfw_funneled" / person
        folder.mkdir(parents=True)
        for k in range(count):
            picture = np.full((250, 250, 3), 8 * k, dtype=np.uint8)
            pictures.fromarray(picture).save(folder / f"{person}_{k + 1:04d}.jpg")
    images = load_images("lfw", tmp_path)
    assert images.shape == (60, 54)
    assert images.more["class_names"].tolist() == ["Ann_Example"]
    np.testing.assert_allclose(images.X[:, 1000], 8 * np.arange(11), atol=1)


@pytest.mark.parametrize("name", ["extended_yale_b", "ar", "lfw", "coil20", "coil100", "caltech101"])
def test_what_is_missing_and_where_it_comes_from_is_told(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\.npz is missing; it holds X, .* and y of \w+"):
        load_images(name, tmp_path)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_a_value_scattered_over_images_is_found(share):
    faces = synthetic_faces(3, 20, random_state=0)
    # Shadows are all of one value too, but they lie together.
    assert (faces.X == 0).mean() > 0.02
    assert scattered_value(faces.X, faces.shape) is None
    assert scattered_value(saturate_pixels(faces.X, share, value=77.0, random_state=0), faces.shape) == 77.0
    photographs = np.full((1, 24, 20), 9.0)
    assert scattered_value(cover_blocks(faces.X, share, faces.shape, photographs=photographs), faces.shape) is None
    assert scattered_value(add_uniform_noise(faces.X, share, random_state=0), faces.shape) is None
    with pytest.raises(ValueError, match="image_shape must be"):
        scattered_value(faces.X, (3, 3))
