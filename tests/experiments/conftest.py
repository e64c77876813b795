import pytest
from invented import invent_result

from takagi.experiments import Store
from takagi.experiments._plan import Scope, plan_runs


@pytest.fixture(scope="session")
def full_store(tmp_path_factory):
    """A store with made-up results for figures 3, 4, 6, 7 and 8 of eight datasets."""
    scope = Scope(datasets=("Concrete-CS", "Yacht", "NO2", "PM10", "Housing", "CPS", "Concrete", "Airfoil"), repeats=2)
    store = Store(tmp_path_factory.mktemp("store"))
    runs = {run for figure in ("fig3a", "fig3b", "fig4", "fig6", "fig7", "fig8") for run in plan_runs(figure, scope)}
    store.append(invent_result(run) for run in sorted(runs))
    store.compact()
    return store
