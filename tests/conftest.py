import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

settings.register_profile("jplrdl", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jplrdl")


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    """The matrices here are small: BLAS threads would only wait for each other."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def unit_rows(rng):
    """Random matrices whose rows have unit length."""

    def draw(n_rows, n_columns, dtype=np.float64):
        rows = rng.standard_normal((n_rows, n_columns))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(dtype)

    return draw
