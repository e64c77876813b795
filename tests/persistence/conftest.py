import json

import pytest
from saved_models import (
    FRAME,
    X,
    Y,
    small,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from takagi.optimizers import Adam
from takagi.persistence import save
from takagi.tables import TableEncoder


@pytest.fixture(scope="session")
def small_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "model.takagi"
    save(small(n_rules=1, max_iter=2).fit(X, Y), path)
    return path.read_bytes()


@pytest.fixture(scope="session")
def table_document(tmp_path_factory):
    """The document of a pipeline with every kind of step."""
    path = tmp_path_factory.mktemp("table") / "model.takagi"
    regressor = small(optimizer=Adam(), projection="separate")
    save(make_pipeline(TableEncoder(missing="fill"), StandardScaler(), RobustScaler(), regressor).fit(FRAME, Y), path)
    return json.loads(path.read_bytes())
