"""Coverage-guided fuzzing of the C API, through the package in tests/downstream: run by `.ci/checked guided`.

libFuzzer, which atheris brings along, makes inputs that reach new edges of the kernels. Each input is a call: sizes,
weights and numbers within the documented contract. AddressSanitizer, UndefinedBehaviorSanitizer and the guards behind
every workspace watch; the answers must be finite, and right where that is cheap to see.
"""

import ctypes
import sys

import atheris
import atheris.core_with_libfuzzer as libfuzzer
import consumer
import numpy as np

N_COUNTERS = 1 << 14


def register_counters(library):
    """Hand the kernels' counters to libFuzzer, with a table of places as long as they are."""
    fuzzer = ctypes.CDLL(libfuzzer.__file__)
    counters = (ctypes.c_uint8 * N_COUNTERS).in_dll(ctypes.CDLL(library), "jplrdl_counters")
    begin = ctypes.addressof(counters)
    fuzzer.__sanitizer_cov_8bit_counters_init(ctypes.c_void_p(begin), ctypes.c_void_p(begin + N_COUNTERS))
    places = np.repeat(np.arange(1, N_COUNTERS + 1, dtype=np.uintp), 2)
    begin = places.ctypes.data
    fuzzer.__sanitizer_cov_pcs_init(ctypes.c_void_p(begin), ctypes.c_void_p(begin + places.nbytes))
    return places


def numbers(data, shape, dtype, most=1e100):
    """Finite numbers of any size, from bytes."""
    count = int(np.prod(shape))
    raw = np.frombuffer(data.ConsumeBytes(2 * count).ljust(2 * count, b"\0"), dtype=np.int8).astype(float)
    mantissa, exponent = raw[:count], np.clip(raw[count:], -30 if dtype == np.float32 else -150, 30)
    values = (mantissa / 16 * 2.0**exponent).reshape(shape)
    return np.clip(values, -most, most).astype(dtype)


def fuzz_feature_sign(data, dtype):
    n, m = data.ConsumeIntInRange(1, 80), data.ConsumeIntInRange(1, 4)
    basis = numbers(data, (n, data.ConsumeIntInRange(1, 8)), dtype, 1e6)
    if data.ConsumeBool():
        basis = np.repeat(basis, 2, axis=0)[:n]
    gram = basis @ basis.T
    gram = np.ascontiguousarray((gram + gram.T) / 2) if data.ConsumeBool() else np.eye(n, dtype=dtype)
    cov, codes = numbers(data, (m, n), dtype, 1e6), numbers(data, (m, n), dtype, 1e6) * dtype(data.ConsumeBool())
    n_iter, status = np.full(m, -1, np.intp), np.full(m, -1, np.intc)
    residual = np.full(m, np.nan, dtype)
    penalty, shift = abs(numbers(data, 2, dtype, 1e6))
    most = data.ConsumeIntInRange(1, 500)
    consumer.feature_sign(gram, cov, penalty, shift, 1e-6, most, codes, n_iter, residual, status)
    assert np.isin(status, (0, 1, 2)).all()
    assert np.isfinite(codes).all()
    assert (n_iter >= 0).all()


def fuzz_prox(data, dtype):
    shape = tuple(data.ConsumeIntInRange(1, 12) for _ in range(4))
    V, t = numbers(data, shape, dtype), abs(float(numbers(data, 1, dtype)[0]))
    out = np.empty_like(V)
    assert consumer.prox_l21(V, t, out) == 0
    assert (np.abs(out) <= np.abs(V)).all()
    rows = V.reshape(shape[0], -1)
    out = np.empty_like(rows)
    assert consumer.prox_l1(rows, t, out) == 0
    assert (np.abs(out) <= np.abs(rows)).all()


def fuzz_nuclear(data, dtype):
    V = numbers(data, (2, data.ConsumeIntInRange(1, 12), data.ConsumeIntInRange(1, 12)), dtype)
    singular, rank = np.full((2, min(V.shape[1:])), np.nan, dtype), np.full(2, -1, np.intp)
    out = np.full_like(V, np.nan)
    assert consumer.prox_nuclear(V, abs(float(numbers(data, 1, dtype)[0])), out, singular, rank) == 0
    assert np.isfinite(out).all()
    assert ((rank >= 0) & (rank <= singular.shape[1])).all()


def fuzz_graph(data, dtype):
    n, n_same, n_other = data.ConsumeIntInRange(1, 40), data.ConsumeIntInRange(0, 5), data.ConsumeIntInRange(0, 5)
    if n_same + n_other == 0:
        return
    X = numbers(data, (n, data.ConsumeIntInRange(1, 5)), dtype, 1e6)
    labels = np.frombuffer(data.ConsumeBytes(n).ljust(n, b"\0"), dtype=np.uint8).astype(np.intc) % 4
    neighbors, distances = np.full((n, n_same + n_other), -1, np.intc), np.full((n, n_same + n_other), np.inf, dtype)
    block = data.ConsumeIntInRange(1, 50)
    assert consumer.signed_knn(X, (X * X).sum(axis=1), labels, block, n_same, neighbors, distances) == 0
    assert ((neighbors >= -1) & (neighbors < n)).all()
    room = 2 * neighbors.size
    indptr, indices, weights = np.empty(n + 1, np.intc), np.empty(room, np.intc), np.empty(room, dtype)
    width = abs(float(numbers(data, 1, dtype)[0])) or 1.0
    assert consumer.signed_csr(neighbors, distances, n_same, width, indptr, indices, weights) == 0
    filled = indptr[-1]
    assert 0 <= filled <= room
    if filled:
        degree = np.ones(n, dtype)
        out = np.empty(n + 1, np.intc), np.empty(filled + n, np.intc), np.empty(filled + n, dtype)
        kept = indices[:filled].copy(), weights[:filled].copy()
        assert consumer.laplacian(indptr, *kept, degree, degree, *out) == 0
        assert out[0][-1] == filled + n


TARGETS = [fuzz_feature_sign, fuzz_prox, fuzz_nuclear, fuzz_graph]


def one_input(raw):
    data = atheris.FuzzedDataProvider(raw)
    target, dtype = data.PickValueInList(TARGETS), data.PickValueInList([np.float64, np.float32])
    with np.errstate(all="ignore"):
        target(data, dtype)


if __name__ == "__main__":
    kept = register_counters(sys.argv.pop(1))
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
