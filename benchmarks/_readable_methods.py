"""The methods of `frontier.py`: models that people read, each with an adapter that fits it and one that reads it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from _fuzzy_methods import fit_highfis, fit_pytsk, fit_takagi
from _methods import Method
from _readings import (
    Condition,
    Readable,
    Rule,
    Size,
    Truth,
    judge,
    keep_tightest,
    list_leaves,
    list_places,
    make_formula,
    measure_rules,
    read_added,
    read_averaged,
    read_gaussians,
    unscale,
)
from _rows import Rows, Scaled, Scaling
from _tree_methods import fit_ebm
from takagi._typing import FloatArray
from takagi.inspection import check_rules, measure_size

BOTH, STOPPED = "85 %", "70 %, stopped on 15 %"
Description = tuple[Size, Truth]


def describe_nothing(model: Any, rows: Rows, X: FloatArray, y: FloatArray) -> Description:
    """Return that a model has no rules."""
    return Size(), Truth()


@dataclass(frozen=True)
class ReadableMethod(Method):
    """A method of the frontier.

    Attributes
    ----------
    describe : callable
        From a fitted model, the rows of the fit and test rows to the size of the model and the truth of its rules.
    """

    describe: Callable[[Any, Rows, FloatArray, FloatArray], Description] = describe_nothing


Reader = Callable[[Any, Rows], Readable]


def describe_with(reader: Reader) -> Callable[[Any, Rows, FloatArray, FloatArray], Description]:
    """Return a function that measures a model by what a reader finds in it."""

    def describe(model: Any, rows: Rows, X: FloatArray, y: FloatArray) -> Description:
        readable = reader(model, rows)
        return readable.size, judge(readable, *rows.both, X, y)

    return describe


def describe_takagi(model: Any, rows: Rows, X: FloatArray, y: FloatArray) -> Description:
    """Return what takagi measures itself, by the same definitions."""
    found = check_rules(model, X, y).summary
    return Size(*measure_size(model)), Truth(**{name: found[name] for name in Truth._fields})


# -- trees -------------------------------------------------------------------------------------------------------------


def fit_tree(rows: Rows, seed: int, n_leaves: int) -> DecisionTreeRegressor:
    tree = DecisionTreeRegressor(max_leaf_nodes=n_leaves, min_samples_leaf=5, random_state=seed)
    return tree.fit(*rows.both)


def read_tree(model: DecisionTreeRegressor, rows: Rows) -> Readable:
    tree = model.tree_

    def split(node: int) -> tuple[int, float, int, int] | None:
        left, right = tree.children_left[node], tree.children_right[node]
        return None if left == right else (tree.feature[node], tree.threshold[node], left, right)

    none = np.zeros(tree.n_features)
    rules = [Rule(path, make_formula(tree.value[leaf, 0, 0], none)) for path, leaf in list_leaves(0, split)]
    return Readable(measure_rules(rules, len(rules) - 1), list_places(rules), read_averaged(rules))


LINEAR_TREE = "scaled; ridge regression (alpha 1) in the leaves, which have at least 10 rows and 2 per column"


def fit_linear_tree(rows: Rows, seed: int, depth: int) -> Scaled:
    from lineartree import LinearTreeRegressor
    from sklearn.utils.validation import validate_data

    class Tree(LinearTreeRegressor):
        """The class with the method that it takes from scikit-learn, and which newer ones do not have."""

        def _validate_data(self, *arrays: Any, force_all_finite: bool = True, **options: Any) -> Any:
            return validate_data(self, *arrays, ensure_all_finite=force_all_finite, **options)

    scaling = Scaling(*rows.both)
    X, y = scaling.scale(*rows.both)
    return scaling.unscale(Tree(Ridge(1.0), max_depth=depth, min_samples_leaf=max(10, 2 * X.shape[1])).fit(X, y))


def read_linear_tree(model: Scaled, rows: Rows) -> Readable:
    """Read the leaves, since the public summary rounds thresholds and so moves rows to other leaves."""
    rules = []
    for leaf in model.model._leaves.values():
        path = [Condition(int(column), side == "L", float(threshold)) for column, side, threshold in leaf.threshold]
        rules.append(Rule(keep_tightest(path), make_formula(leaf.model.intercept_, leaf.model.coef_)))
    return unscale(Readable(measure_rules(rules, len(rules) - 1), list_places(rules), read_averaged(rules)), model)


# -- rules of thresholds -----------------------------------------------------------------------------------------------


def fit_cubist(rows: Rows, seed: int, **options: Any) -> Any:
    from cubist import Cubist

    return Cubist(random_state=seed, **options).fit(*rows.both)


def read_cubist(model: Any, rows: Rows) -> Readable:
    """Read the rules from the text of the model; those that hold are averaged, so that they share a row."""
    names = {name: column for column, name in enumerate(model.feature_names_in_)}
    head, *texts = re.split(r"^(?=conds=)", model.model_, flags=re.MULTILINE)
    limits = {word: float(value) for word, value in re.findall(r'(extrap|floor|ceiling)="(\S+?)"', head)}
    rules = [parse_cubist_rule(text, names, **limits) for text in texts]
    return Readable(measure_rules(rules), list_places(rules), read_averaged(rules, float(rows.both[1].mean())))


def parse_cubist_rule(text: str, names: dict[str, int], extrap: float, floor: float, ceiling: float) -> Rule:
    """Read one rule of the text of a model.

    What a rule says is limited to the range of its training rows, made wider at both ends by a part of itself.

    Parameters
    ----------
    text : str
    names : dict
        Columns of the features.
    extrap : float
        The part by which the range is made wider.
    floor, ceiling : float
        Limits of all rules.

    Examples
    --------
    >>> rule = parse_cubist_rule(
    ...     'conds="1" cover="9" loval="2" hival="4"\\n'
    ...     'type="2" att="a" cut="0.5" result="<="\\n'
    ...     'coeff="2" att="b" coeff="-1.5"',
    ...     {"a": 0, "b": 1}, extrap=0.1, floor=1.9, ceiling=9.0,
    ... )
    >>> rule.conditions, rule.formula.tolist(), rule.low, rule.high
    ((Condition(column=0, is_upper=True, threshold=0.5),), [2.0, 0.0, -1.5], 1.9, 4.2)
    """
    conditions = []
    for name, cut, result in re.findall(r'^type="2" att="(.*?)" cut="(.*?)" result="(.*?)"', text, re.MULTILINE):
        conditions.append(Condition(names[name], result.startswith("<"), float(np.float32(cut))))
    line = re.search(r'^coeff="(\S+?)"(.*)$', text, re.MULTILINE)
    span = re.search(r'loval="(\S+?)" hival="(\S+?)"', text)
    if line is None or span is None or f'conds="{len(conditions)}"' not in text:
        raise ValueError(f"expected a rule of Cubist with thresholds, a range and a formula, got {text!r}.")
    formula = np.zeros(len(names) + 1)
    formula[0] = float(line[1])
    for name, value in re.findall(r'att="(.*?)" coeff="(\S+?)"', line[2]):
        formula[names[name] + 1] = float(value)
    low, high = float(span[1]), float(span[2])
    margin = extrap * (high - low)
    return Rule(keep_tightest(conditions), formula, max(low - margin, floor), min(high + margin, ceiling))


def fit_figs(rows: Rows, seed: int) -> Any:
    from imodels import FIGSRegressor

    return FIGSRegressor(random_state=seed).fit(*rows.both)


def read_figs(model: Any, rows: Rows) -> Readable:
    """Read a sum of trees: every leaf is a rule that adds its value."""

    def split(node: Any) -> tuple[int, float, Any, Any] | None:
        return None if node.left is None else (node.feature, node.threshold, node.left, node.right)

    none = np.zeros(rows.X_train.shape[1])
    leaves = [pair for tree in model.trees_ for pair in list_leaves(tree, split)]
    rules = [Rule(path, make_formula(np.ravel(leaf.value)[0], none)) for path, leaf in leaves]
    read = read_added(rules, lambda X: np.zeros(len(X)))
    return Readable(measure_rules(rules, len(rules) - len(model.trees_)), list_places(rules), read)


def fit_rulefit(rows: Rows, seed: int) -> Any:
    from imodels import RuleFitRegressor

    return RuleFitRegressor(random_state=seed).fit(*rows.both)


def read_rulefit(model: Any, rows: Rows) -> Readable:
    """Read a formula that always holds, and rules that add their coefficients to it."""
    n_features = rows.X_train.shape[1]
    coefficients = np.array(model.coef, dtype=float)
    none = np.zeros(n_features)
    rules = [
        Rule(read_thresholds(rule), make_formula(coefficient, none))
        for rule, coefficient in zip(model.rules_without_feature_names_, coefficients[n_features:], strict=True)
        if coefficient
    ]
    always = Rule((), make_formula(0.0, coefficients[:n_features]))

    def predict_without_rules(X: FloatArray) -> FloatArray:
        return model.predict(X) - sum(rule.holds(X) * rule.formula[0] for rule in rules)

    size = measure_rules([always, *rules])
    return Readable(size, list_places(rules), read_added(rules, predict_without_rules))


def read_thresholds(rule: Any) -> tuple[Condition, ...]:
    """Read the conditions of a rule of imodels, whose columns are named X_0, X_1, ..."""
    return tuple(
        Condition(int(name.removeprefix("X_")), sign.startswith("<"), float(value))
        for (name, sign), value in rule.agg_dict.items()
    )


# -- fuzzy sets --------------------------------------------------------------------------------------------------------


def read_highfis(model: Scaled, rows: Rows) -> Readable:
    network = model.model.model_
    layer, consequents = network.membership_layer, network.consequent_layer
    sets = [one for column in layer.input_mfs.values() for one in column]
    numbers = np.array([[one.mean.item(), one.sigma.item()] for one in sets])[network.rule_layer.rule_indices.numpy()]
    formulas = np.column_stack([consequents.bias.detach().numpy(), consequents.weight.detach().numpy()]).astype(float)
    X_train = model.x_scaler.transform(rows.both[0])
    floor = np.finfo(np.float32).eps  # below which it lets no membership fall
    return unscale(read_gaussians(numbers[..., 0], numbers[..., 1], formulas, X_train, floor), model)


def read_pytsk(model: Scaled, rows: Rows) -> Readable:
    """Read a network; its batch normalization, a linear step, goes into the formulas."""
    network = model.model.network
    n_rules, n_features = network.n_rule, network.in_dim
    values = {name: value.detach().numpy().astype(float) for name, value in network.state_dict().items()}
    weights = values["cons.weight"][0]
    slopes, constants = weights[:-n_rules].reshape(n_rules, n_features), weights[-n_rules:] + values["cons.bias"]
    scale = values["precons.weight"] / np.sqrt(values["precons.running_var"] + network.precons.eps)
    shift = values["precons.bias"] - scale * values["precons.running_mean"]
    formulas = np.column_stack([constants + slopes @ shift, slopes * scale])
    widths = np.sqrt(values["antecedent.sigma"].T ** 2 + network.antecedent.eps)
    X_train = model.x_scaler.transform(rows.both[0])
    return unscale(read_gaussians(values["antecedent.center"].T, widths, formulas, X_train), model)


# -- the table ---------------------------------------------------------------------------------------------------------

_TREE, _LINEAR_TREE = describe_with(read_tree), describe_with(read_linear_tree)
_CUBIST = describe_with(read_cubist)

METHODS = {
    method.name: method
    for method in (
        *(
            ReadableMethod(
                f"takagi {n_rules}",
                partial(fit_takagi, recipe="short", n_rules=n_rules),
                BOTH,
                f'TSKRegressor(recipe="short", n_rules={n_rules})',
                "takagi",
                "takagi",
                describe_takagi,
            )
            for n_rules in (3, 5, 7, 12)
        ),
        ReadableMethod(
            "takagi default",
            partial(fit_takagi, n_adjustments=0),
            BOTH,
            "TSKRegressor(n_adjustments=0)",
            "takagi",
            "takagi",
            describe_takagi,
        ),
        ReadableMethod("tree 8", partial(fit_tree, n_leaves=8), BOTH, "at least 5 rows a leaf", describe=_TREE),
        ReadableMethod("tree 20", partial(fit_tree, n_leaves=20), BOTH, "at least 5 rows a leaf", describe=_TREE),
        ReadableMethod("Cubist", fit_cubist, BOTH, "one model", "cubist", "cubist", _CUBIST),
        ReadableMethod("Cubist 5", partial(fit_cubist, n_rules=5), BOTH, "n_rules=5", "cubist", "cubist", _CUBIST),
        ReadableMethod("FIGS", fit_figs, BOTH, "at most 12 splits", "imodels", "imodels six", describe_with(read_figs)),
        ReadableMethod(
            "RuleFit", fit_rulefit, BOTH, "at most 30 rules", "imodels", "imodels six", describe_with(read_rulefit)
        ),
        *(
            ReadableMethod(
                f"linear tree {2**depth}",
                partial(fit_linear_tree, depth=depth),
                BOTH,
                LINEAR_TREE,
                "lineartree",
                "linear-tree",
                _LINEAR_TREE,
            )
            for depth in (2, 3)
        ),
        ReadableMethod(
            "highfis 5",
            partial(fit_highfis, n_rules=5),
            STOPPED,
            "scaled; HTSKRegressor, patience 20",
            "highfis",
            "highfis",
            describe_with(read_highfis),
        ),
        ReadableMethod(
            "PyTSK 5",
            partial(fit_pytsk, n_rules=5),
            STOPPED,
            "scaled; HTSK with batch normalization, 300 epochs of AdamW, the best epoch on the validation part",
            "pytsk",
            "scikit-pytsk torch",
            describe_with(read_pytsk),
        ),
        ReadableMethod(
            "EBM main effects",
            partial(fit_ebm, interactions=0),
            BOTH,
            "4 outer bags, a curve per column",
            "interpret",
            "interpret-core",
        ),
        ReadableMethod("EBM", fit_ebm, BOTH, "4 outer bags, interactions by default", "interpret", "interpret-core"),
    )
}
