"""`partial_fit`: the estimator's side of a stream."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from takagi._compat import fit_context
from takagi._typing import Table
from takagi.estimators._base import make_rng, read_target_names, validate_training
from takagi.fitting._fitting import Fitting
from takagi.fitting._rows import Rows
from takagi.fitting._warm_start import check_start
from takagi.rulebase import RuleBase
from takagi.streaming._stream import Horizon, Plan, Stream


class PartialFitMixin:
    """Training block by block, for an estimator with the parameters and attributes of `TSKRegressor`."""

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Table, y: Table, sample_weight: Table = None) -> Any:
        """Pass once over a block of rows, going on from what is known from earlier blocks or from `fit`.

        The first rows are kept until there are eight for each rule (1,000 for `n_rules="auto"`) and a batch; then rules
        are made, and from then on rows train in batches. Rows that do not fill a batch wait for the next block.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; one row or more, always with the same columns.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            One target or several.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        TSKRegressor
            The estimator, with the best rules so far.

        Notes
        -----
        Rows validate, and do not train, if a hash of their values says so: a part `validation_fraction` of them, at
        most 2,000, always a uniform sample of all distinct rows so far. Rows may come again in later passes. Means and
        deviations for `standardize` are those of all rows so far. The learning rate is constant, since a stream has no
        known end; `max_iter`, `schedule` and `n_iter_no_change` are not used. Penalties that are "auto"
        without DropRule follow from the validation error and the number of distinct rows so far; they are zero in a
        first pass, in which nothing can be learned by heart.

        A block that is refused changes nothing. Ctrl-C is raised as everywhere else, and the best rules so far are
        there to be used and saved. A saved and loaded model goes on as if there had been no stop.

        Examples
        --------
        >>> import numpy as np
        >>> from takagi import TSKRegressor
        >>> rng = np.random.default_rng(0)
        >>> model = TSKRegressor(n_rules=4, random_state=0)
        >>> for _ in range(20):
        ...     X = rng.uniform(-1, 1, size=(500, 2))
        ...     model = model.partial_fit(X, X[:, 0] * X[:, 1])
        >>> bool(model.score(X, X[:, 0] * X[:, 1]) > 0.9)
        True
        """
        self._validate_params()  # type: ignore[attr-defined]  # scikit-learn does so in the first call only
        self._feed_block(X, y, sample_weight, Horizon())
        return self

    def _feed_block(self: Any, X: Table, y: Table, sample_weight: Table, horizon: Horizon) -> None:
        """Check a block, train on it, and set the fitted attributes, after Ctrl-C as well."""
        initializer, config = self._resolve_names()
        start = getattr(self, "rule_base_", None)
        stream = getattr(self, "_stream", None)
        is_first = stream is None and start is None
        rows, is_single = validate_training(self, X, y, sample_weight, min_rows=1, reset=is_first)
        names = read_target_names(y)
        if stream is None:
            stream = Stream(make_rng(self.random_state), names if start is None else start.output_names)
        _check_block(stream, start, rows, names)
        rows = rows.take(np.flatnonzero(rows.weight > 0))
        if not len(rows.X):
            return
        fitting = Fitting(
            initializer, self.projection, self.n_projections, self.standardize, stream.rng, self.verbose, start
        )
        plan = Plan(self._wishes, config, fitting, self.validation_fraction, horizon)
        n_before, stopped = stream.n_iter, "interrupted"
        try:
            stream.feed(rows, plan)
            stopped = "stream"
        finally:
            if stream.seen is not None:
                self._stream, self._is_single_target = stream, getattr(self, "_is_single_target", is_single)
            if stream.n_iter > n_before:
                self._store_stream(stopped)

    def _store_stream(self: Any, stopped: str) -> None:
        """Set the fitted attributes to the best rules so far."""
        stream = self._stream
        self.rule_base_ = stream.read_rules().rename(getattr(self, "feature_names_in_", None), stream.target_names)
        for name in ("keep_prob", "batch_size", "l2", "smoothness"):
            setattr(self, f"{name}_", getattr(stream.config, name))
        self.n_rules_ = self.rule_base_.n_rules
        names = ("iteration", "train_loss", "val_loss")
        self.history_ = dict(zip(names, stream.learner.history.T.copy(), strict=True))
        self.best_iter_, self.n_iter_, self.stopped_ = stream.learner.best_iter, stream.n_iter, stopped
        if self.verbose:
            print(f"[takagi] {stream}")  # noqa: T201

    def _check_has_rules(self: Any) -> None:
        """Raise an error if there are no rules yet, which says how many rows a stream still waits for."""
        stream = getattr(self, "_stream", None)
        if stream is not None and not hasattr(self, "rule_base_"):
            raise NotFittedError(
                f"This {type(self).__name__} has no rules yet: {stream.n_waiting} rows wait, and rules are made when "
                f"there are {stream.n_needed}, and as many different ones as rules. Call partial_fit with more rows."
            )
        check_is_fitted(self, "rule_base_")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rule_base_")


def _check_block(stream: Stream, start: RuleBase | None, rows: Rows, names: list[str] | None) -> None:
    """Raise an error unless a block has the targets of the rows before it."""
    if stream.seen is not None and rows.y.shape[1] != len(stream.seen.y.mean):
        raise ValueError(f"y must have {len(stream.seen.y.mean)} target(s) as before, got {rows.y.shape[1]}.")
    if start is not None:
        check_start(start, rows.y.shape[1])
    known = stream.target_names
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError(
            f"y must have the target(s) {', '.join(known)} as before, got {', '.join(names)}. Rename the column if it "
            "is the same target."
        )
