from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import root_mean_squared_error

from streamed import X, Y, feed, small
from takagi import RuleModel


def test_partial_fit_goes_on_from_a_fit():
    fitted = small(max_iter=300).fit(X, Y)
    error = root_mean_squared_error(Y, fitted.predict(X))
    start = fitted.rule_base_
    feed(fitted, size=300)
    assert fitted.stopped_ == "stream"
    assert fitted.rule_base_ != start
    assert root_mean_squared_error(Y, fitted.predict(X)) < 1.1 * error


@pytest.mark.filterwarnings("ignore:Training did not improve on the initial rules")
def test_a_warm_start_goes_on_from_the_rules():
    model = small(max_iter=30, warm_start=True)
    cold = clone(model).fit(X, Y)
    warm = clone(model)
    for _ in range(4):
        warm.fit(X, Y)
    errors = [root_mean_squared_error(Y, one.predict(X)) for one in (cold, warm)]
    assert errors[1] < 0.9 * errors[0]
    assert cold.rule_base_ == small(max_iter=30).fit(X, Y).rule_base_


def test_a_warm_start_keeps_rules_without_conditions():
    model = small(max_iter=50, warm_start=True).fit(X, Y)
    widths = model.rule_base_.widths.copy()
    widths[:, 1] = np.inf
    model.model_ = RuleModel((replace(model.rule_base_, widths=widths),))
    for train in (model.fit, model.partial_fit):
        train(X, Y)
        assert np.isinf(model.rule_base_.widths[:, 1]).all()
        assert np.isfinite(model.rule_base_.widths[:, [0, 2]]).all()


def test_a_warm_start_refuses_other_data():
    model = small(max_iter=5, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="2 features, but TSKRegressor is expecting 3"):
        model.fit(X[:, :2], Y)
    with pytest.raises(ValueError, match=r"rules with 1 target\(s\), but y has 2"):
        model.fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match=r"rules with 1 target\(s\), but y has 2"):
        model.partial_fit(X, np.column_stack([Y, Y]))
    assert model.predict(X).shape == (1200,)
