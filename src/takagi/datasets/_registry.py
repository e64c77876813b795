"""The paper's table of 22 regression sets, as data."""

from dataclasses import dataclass

from takagi._messages import unknown_name
from takagi.datasets._sources import FILES, SourceFile


@dataclass(frozen=True)
class Dataset:
    """One row of the paper's table, and the file and columns of its data.

    Attributes
    ----------
    name, archive : str
        In the paper's spelling; "UCI" or "StatLib".
    n_samples, n_features : int
        After encoding.
    source : SourceFile
    target : str
        A column of the source.
    target_mean : float
        To four decimals.
    features : tuple of str
        Columns that are used unchanged.
    categories : tuple of str
        Columns that become one 0/1 column per code, after the other columns.

    Examples
    --------
    >>> from takagi.datasets import describe_dataset
    >>> describe_dataset("autoMPG").feature_names[-4:]
    ['model year', 'origin_1', 'origin_2', 'origin_3']
    """

    name: str
    archive: str
    n_samples: int
    n_features: int
    source: SourceFile
    target: str
    target_mean: float
    features: tuple[str, ...]
    categories: tuple[str, ...] = ()

    @property
    def feature_type(self) -> str:
        """The type of the features in the paper's table."""
        return "categorical, numerical" if self.categories else "numerical"

    @property
    def feature_names(self) -> list[str]:
        """Names of the encoded columns."""
        coded = [f"{name}_{label}" for name in self.categories for label in self.source.codes[name].values()]
        return [*self.features, *coded]


_PLAIN_WAGES = ("EDUCATION", "SOUTH", "SEX", "EXPERIENCE", "UNION", "AGE", "MARR")
_ROWS = (
    Dataset("Concrete-CS", "UCI", 103, 7, FILES.slump, FILES.slump.columns[10], 36.0394, FILES.slump.columns[1:8]),
    Dataset("Concrete-Flow", "UCI", 103, 7, FILES.slump, FILES.slump.columns[9], 49.6107, FILES.slump.columns[1:8]),
    Dataset("Concrete-Slump", "UCI", 103, 7, FILES.slump, FILES.slump.columns[8], 18.0485, FILES.slump.columns[1:8]),
    Dataset("Tecator-fat", "StatLib", 240, 22, FILES.tecator, "fat", 18.5021, FILES.tecator.columns[100:122]),
    Dataset("Tecator-moisture", "StatLib", 240, 22, FILES.tecator, "moisture", 62.8454, FILES.tecator.columns[100:122]),
    Dataset("Tecator-protein", "StatLib", 240, 22, FILES.tecator, "protein", 17.7562, FILES.tecator.columns[100:122]),
    Dataset("Yacht", "UCI", 308, 6, FILES.yacht, FILES.yacht.columns[6], 10.4954, FILES.yacht.columns[:6]),
    Dataset("autoMPG", "UCI", 392, 9, FILES.auto_mpg, "mpg", 23.4459, FILES.auto_mpg.columns[1:7], ("origin",)),
    Dataset("NO2", "StatLib", 500, 7, FILES.no2, "log NO2", 3.6984, FILES.no2.columns[1:]),
    Dataset("PM10", "StatLib", 500, 7, FILES.pm10, "log PM10", 3.2709, FILES.pm10.columns[1:]),
    Dataset("Housing", "UCI", 506, 13, FILES.housing, "MEDV", 22.5328, FILES.housing.columns[:13]),
    Dataset("CPS", "StatLib", 534, 19, FILES.wages, "WAGE", 9.0241, _PLAIN_WAGES, ("RACE", "OCCUPATION", "SECTOR")),
    Dataset("Efficiency-Cool", "UCI", 768, 8, FILES.energy, "Cooling Load", 24.5878, FILES.energy.columns[:8]),
    Dataset("Efficiency-Heat", "UCI", 768, 8, FILES.energy, "Heating Load", 22.3072, FILES.energy.columns[:8]),
    Dataset("Concrete", "UCI", 1030, 8, FILES.concrete, FILES.concrete.columns[8], 35.8178, FILES.concrete.columns[:8]),
    Dataset("Airfoil", "UCI", 1503, 5, FILES.airfoil, FILES.airfoil.columns[5], 124.8359, FILES.airfoil.columns[:5]),
    Dataset("Wine-red", "UCI", 1599, 11, FILES.wine_red, "quality", 5.6360, FILES.wine_red.columns[:11]),
    Dataset("Abalone", "UCI", 4177, 7, FILES.abalone, "Rings", 9.9337, FILES.abalone.columns[1:8]),
    Dataset("Abalone-OH", "UCI", 4177, 10, FILES.abalone, "Rings", 9.9337, FILES.abalone.columns[1:8], ("Sex",)),
    Dataset("Wine-white", "UCI", 4898, 11, FILES.wine_white, "quality", 5.8779, FILES.wine_white.columns[:11]),
    Dataset("PowerPlant", "UCI", 9568, 4, FILES.power_plant, "PE", 454.3650, FILES.power_plant.columns[:4]),
    Dataset("Protein", "UCI", 45730, 9, FILES.protein, "RMSD", 7.7485, FILES.protein.columns[1:]),
)
DATASETS: dict[str, Dataset] = {row.name: row for row in _ROWS}


def list_datasets() -> list[str]:
    """Return the names of the paper's 22 regression sets, in the order of its table.

    Examples
    --------
    >>> from takagi.datasets import list_datasets
    >>> names = list_datasets()
    >>> len(names), names[0], names[-1]
    (22, 'Concrete-CS', 'Protein')
    """
    return list(DATASETS)


def describe_dataset(name: str) -> Dataset:
    """Return a dataset's row of the paper's table, and the source of its numbers.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from takagi.datasets import describe_dataset
    >>> yacht = describe_dataset("Yacht")
    >>> yacht.n_samples, yacht.n_features, yacht.source.name
    (308, 6, 'yacht_hydrodynamics.data')
    """
    if name not in DATASETS:
        raise unknown_name("dataset", name, DATASETS)
    return DATASETS[name]
