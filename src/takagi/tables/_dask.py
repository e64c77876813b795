"""Dask collections, read partition by partition."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from takagi._checks import is_dask
from takagi._messages import need_extra
from takagi._typing import FloatArray
from takagi.tables._errors import DatasetError
from takagi.tables._source import Block, Roles, RowSample, refuse_empty
from takagi.tables._tally import ClassTally, Counts, add_counts, close_tally, count_labels, read_cell_labels

_AT_ONCE = 64  # partitions that are counted or sampled together


class DaskPartition(NamedTuple):
    """The rows of a partition with a target, and the number of rows without one."""

    block: Block
    n_without_target: int


class DaskSource:
    """Rows of Dask collections; one partition at a time is loaded, while the next one is computed."""

    def __init__(
        self, parts: list[Any], n_features: int, label: str, targets: tuple[str, ...] = (), has_classes: bool = False
    ) -> None:
        self.parts, self.n_features, self.label, self.targets = parts, n_features, label, targets
        self.has_classes = has_classes

    @classmethod
    def from_frame(cls, frame: Any, roles: Roles) -> "DaskSource":
        """Open a data frame with features, targets and perhaps weights."""
        delayed = need_extra("dask", "dask").delayed
        parts = frame[roles.columns].to_delayed()
        read = delayed(_read_frame)
        named = [read(part, roles, _name(k, len(parts))) for k, part in enumerate(parts)]
        return cls(named, len(roles.features), "The Dask data frame", roles.targets, roles.has_classes)

    @classmethod
    def from_collections(cls, X: Any, y: Any, sample_weight: Any = None, has_classes: bool = False) -> "DaskSource":
        """Open features, targets and weights that are separate collections with the same partitions."""
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and features, got a Dask collection of {X.ndim}.")
        delayed = need_extra("dask", "dask").delayed
        lists = [_to_parts(X, X, "X"), _to_parts(y, X, "y")]
        lists.append([None] * len(lists[0]) if sample_weight is None else _to_parts(sample_weight, X, "sample_weight"))
        read = delayed(_read_arrays)
        names = [_name(k, len(lists[0])) for k in range(len(lists[0]))]
        parts = [read(*part, has_classes, name) for *part, name in zip(*lists, names, strict=True)]
        return cls(parts, X.shape[1], "X", has_classes=has_classes)

    def sample(self, n_rows: int, rng: np.random.Generator, tell: Callable[[int], object] | None = None) -> RowSample:
        """Return a uniform sample of the rows with a target: partitions are first counted, then sampled."""
        delayed = need_extra("dask", "dask").delayed
        found = self._compute([delayed(_count)(part, self.has_classes) for part in self.parts], tell)
        counts, tally = np.array([one[:2] for one in found]), self._tally([one[2] for one in found])
        n_seen, n_dropped = (int(total) for total in counts.sum(axis=0))
        refuse_empty(self.label, n_seen, n_dropped, self.targets)
        shares = counts[:, 0]
        if n_seen > n_rows:
            shares = rng.multivariate_hypergeometric(counts[:, 0], n_rows, method="marginals")
        seeds = rng.integers(2**63, size=len(shares))
        asked = [
            delayed(_take)(part, int(share), int(seed))
            for part, share, seed in zip(self.parts, shares, seeds, strict=True)
            if share
        ]
        blocks = self._compute(asked)
        order = rng.permutation(int(shares.sum()))
        return RowSample(_stack(blocks, order, self.label), n_seen, n_dropped, tally)

    def _tally(self, found: list[Counts]) -> ClassTally | None:
        """Return the classes of all partitions, if targets are labels."""
        if not self.has_classes:
            return None
        total: Counts = {}
        name = repr(self.targets[0]) if self.targets else "y"
        for counts in found:
            add_counts(total, counts, name)
        return close_tally(total, name)

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield the partitions in random order."""
        order = [int(k) for k in rng.permutation(len(self.parts))]
        with ThreadPoolExecutor(1) as pool:
            ahead = pool.submit(self._compute_one, order[0])
            for following in [*order[1:], None]:
                block = ahead.result()
                if following is not None:
                    ahead = pool.submit(self._compute_one, following)
                if len(block.y):
                    yield block

    def _compute_one(self, k: int) -> Block:
        try:
            return need_extra("dask", "dask").compute(self.parts[k])[0].block
        except DatasetError:
            raise
        except Exception as error:  # any exception of the user's graph, or of a cluster that lost too many workers
            raise DatasetError(f"{_name(k, len(self.parts))} cannot be computed: {error}") from error

    def _compute(self, tasks: list[Any], tell: Callable[[int], object] | None = None) -> list[Any]:
        """Return the results of small tasks, some at a time."""
        compute, results = need_extra("dask", "dask").compute, []
        for start in range(0, len(tasks), _AT_ONCE):
            try:
                results += compute(*tasks[start : start + _AT_ONCE])
            except DatasetError:
                raise
            except Exception as error:
                raise DatasetError(f"{self.label} cannot be computed: {error}") from error
            if tell is not None:
                tell(int(sum(sum(counts[:2]) for counts in results[start:])))
        return results


# -- tasks of workers --------------------------------------------------------------------------------------------------


def _read_frame(frame: Any, roles: Roles, origin: str) -> DaskPartition:
    """Split the columns of a partition; rows without a target are left out."""
    if roles.has_classes:
        labels, present = read_cell_labels(frame[roles.targets[0]], f"{origin}: the target {roles.targets[0]!r}")
        targets = labels[:, None]
    else:
        targets = np.column_stack([_to_floats(frame[name], f"{origin}: the target {name!r}") for name in roles.targets])
        present = ~np.isnan(targets).any(axis=1)
    weight = np.ones(len(frame))
    if roles.weight is not None:
        weight = _to_floats(frame[roles.weight], f"{origin}: the weight {roles.weight!r}")
    features = frame.loc[:, list(roles.features)]
    if not present.all():
        features, targets, weight = features[present], targets[present], weight[present]
    return DaskPartition(Block(features, targets, weight, origin), int((~present).sum()))


def _read_arrays(X: Any, y: Any, weight: Any, has_classes: bool, origin: str) -> DaskPartition:
    """Put features, targets and weights of one partition together."""
    targets = _read_whole(y, origin) if has_classes else _to_floats(y, f"{origin}: y")
    weight = np.ones(len(X)) if weight is None else _to_floats(weight, f"{origin}: sample_weight")
    if not len(targets) == len(weight) == len(X):
        raise DatasetError(
            f"{origin}: X has {len(X)} rows, y {len(targets)} and sample_weight {len(weight)}. Cut all of them alike, "
            "for example with rechunk or repartition."
        )
    return DaskPartition(Block(X, targets if targets.ndim == 2 else targets[:, None], weight, origin), 0)


def _read_whole(y: Any, origin: str) -> np.ndarray:
    """Return labels of all rows."""
    labels, present = read_cell_labels(y, f"{origin}: y")
    if not present.all():
        raise DatasetError(
            f"{origin}: y contains {int((~present).sum())} labels that are missing or NaN (first in row "
            f"{int((~present).argmax())}). Leave these rows out, or give them a class of their own."
        )
    return labels


def _to_floats(values: Any, what: str) -> FloatArray:
    try:
        if hasattr(values, "to_numpy"):
            return values.to_numpy(dtype=float, na_value=np.nan) if values.ndim == 1 else values.to_numpy(dtype=float)
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{what} must be numbers ({error}).") from error


def _count(partition: DaskPartition, has_classes: bool) -> tuple[int, int, Counts]:
    """Return the numbers of rows with and without a target, and the weight of each class."""
    block = partition.block
    counts = count_labels(block.y[:, 0], block.weight) if has_classes and len(block.y) else {}
    return len(block.y), partition.n_without_target, counts


def _take(partition: DaskPartition, n_rows: int, seed: int) -> Block:
    """Return some rows, drawn at random."""
    X, y, weight, origin = partition.block
    rows = np.random.default_rng(seed).choice(len(y), n_rows, replace=False)
    return Block(X.iloc[rows] if hasattr(X, "iloc") else X[rows], y[rows], weight[rows], origin)


# -- parts -------------------------------------------------------------------------------------------------------------


def _to_parts(values: Any, X: Any, what: str) -> list[Any]:
    """Return the partitions of a collection, as many as X has."""
    if not is_dask(values):
        raise TypeError(
            f"X is a Dask collection, so {what} must be one, too, got {type(values).__name__}. "
            "dask.array.from_array makes one of an array."
        )
    if not hasattr(values, "partitions"):
        raise TypeError(f"{what} must be a Dask array, series or data frame, got {type(values).__name__}.")
    if hasattr(values, "chunks"):
        values = values.rechunk({0: X.chunks[0]}) if _has_known_rows(values) and _has_known_rows(X) else values
        values = values.rechunk({1: -1}) if values.ndim == 2 else values
    delayed = values.to_delayed()
    parts = delayed.ravel().tolist() if hasattr(delayed, "ravel") else list(delayed)
    n_wanted = X.numblocks[0] if hasattr(X, "chunks") else X.npartitions
    if len(parts) != n_wanted:
        raise ValueError(f"{what} has {len(parts)} partitions, but X has {n_wanted}. Cut both alike.")
    return parts


def _has_known_rows(values: Any) -> bool:
    return hasattr(values, "chunks") and not np.isnan(values.chunks[0]).any()


def _stack(blocks: list[Block], order: np.ndarray, origin: str) -> Block:
    frames = [block.X for block in blocks]
    is_frame = hasattr(frames[0], "iloc")
    X: Any = need_extra("pandas", "dask").concat(frames, ignore_index=True) if is_frame else np.concatenate(frames)
    y, weight = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("y", "weight"))
    return Block(X.iloc[order] if is_frame else X[order], y[order], weight[order], origin)


def _name(k: int, n_parts: int) -> str:
    return f"partition {k} of {n_parts}"
