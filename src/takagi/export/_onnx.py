"""Rules as an ONNX graph of standard operators."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from takagi._conditions import name_features
from takagi._messages import need_extra, unknown_name
from takagi._model import OpenModel
from takagi._typing import FloatArray
from takagi._wording import describe_model
from takagi.bend import Bend
from takagi.export._source import (
    Layout,
    choose_outputs,
    find_fill,
    lay_out,
    list_predicted,
    open_source,
    write_if_asked,
)
from takagi.tables import Column

if TYPE_CHECKING:
    import onnx

OPSET = 17
OPSET_FOR_TEXT = 19  # the first in which text may be compared
_IR_VERSION = {OPSET: 8, OPSET_FOR_TEXT: 9}  # of the ONNX release that introduced the opset
_LINKS: dict[str, tuple[str, dict[str, int]]] = {
    "identity": ("Identity", {}),
    "logit": ("Sigmoid", {}),
    "softmax": ("Softmax", {"axis": 1}),
}
_LIMIT = {"float64": 1e300, "float32": 1e38}


def to_onnx(
    model: Any, path: str | Path | None = None, *, dtype: str = "float64", coverage: float | None = None
) -> "onnx.ModelProto":
    """Write a model as an ONNX graph of opset 17, or 19 if it has categories.

    A model of numbers has one input ``X`` of shape (n_rows, n_features). One with a `TableEncoder` has an input of
    shape (n_rows, 1) for each column it uses, by its name: numbers and booleans as floats, NaN where missing, and
    categories as text, "missing" where missing. The output ``y`` has the shape that ``predict`` gives. A classifier has
    the outputs ``label`` of shape (n_rows,), text, integers or booleans, and ``probabilities`` of shape (n_rows,
    n_classes), as in skl2onnx without ZipMap. Firing levels are computed from differences to the centers, in log space;
    this needs memory for about twice n_rows x n_rules x n_inputs numbers.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model.
    path : str or Path, optional
        A file to write as well.
    dtype : {"float64", "float32"}, default="float64"
        The type of all numbers, including inputs and output.
    coverage : float, optional
        Adds two outputs, ``lower`` and ``upper``, of the shape of ``y``: intervals of this coverage, between 0 and 1.
        The model needs a calibration.

    Returns
    -------
    onnx.ModelProto
        The model. Its metadata has the names of features and outputs, its text the rules.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.export import to_onnx
    >>> rules = RuleBase(centers=[[0.0]], widths=[[2.0]], consequents=[[[1.0, 0.5]]], feature_names=["speed"])
    >>> graph = to_onnx(rules).graph
    >>> graph.input[0].name, graph.output[0].name
    ('X', 'y')
    """
    if dtype not in _LIMIT:
        raise unknown_name("dtype", dtype, _LIMIT)
    source = open_source(model)
    graph = Graph(dtype, [column.name for column in source.columns] if source.has_table else [])
    rows = _encode_table(graph, source) if source.has_table else graph.add_input("X", source.model.n_features)
    _predict(graph, rows, lay_out(choose_outputs(source, coverage), dtype), source)
    proto = _finish(graph, source)
    write_if_asked(path, proto.SerializeToString())
    return proto


class Graph:
    """A graph that is built operator by operator; names of tensors differ from those of the user."""

    def __init__(self, dtype: str, taken: list[str]) -> None:
        self.onnx = need_extra("onnx", "export")
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.has_text = False
        self._taken = set(taken)

    @property
    def number_type(self) -> int:
        """ONNX's code of the type of numbers."""
        return self.onnx.TensorProto.DOUBLE if self.dtype == "float64" else self.onnx.TensorProto.FLOAT

    def fresh(self, word: str) -> str:
        """Return a name that no tensor has."""
        name, number = word, 1
        while name in self._taken:
            number += 1
            name = f"{word}_{number}"
        self._taken.add(name)
        return name

    def add_input(self, name: str, n_columns: int, is_text: bool = False) -> str:
        """Declare an input of (n_rows, n_columns)."""
        kind = self.onnx.TensorProto.STRING if is_text else self.number_type
        self.has_text |= is_text
        self._taken.add(name)
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n_rows", n_columns]))
        return name

    def add_constant(self, values: FloatArray | float | list[int], word: str, dtype: str | None = None) -> str:
        """Store an array, by default as numbers of the graph's type."""
        name = self.fresh(word)
        array = np.asarray(values, dtype=dtype or self.dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def label_type(self, classes: tuple[Any, ...]) -> int:
        """Return ONNX's code of the type of labels."""
        types = self.onnx.TensorProto
        return {bool: types.BOOL, int: types.INT64, float: types.DOUBLE}.get(type(classes[0]), types.STRING)

    def add_labels(self, classes: tuple[Any, ...]) -> str:
        """Store the labels of classes; those that are neither numbers nor booleans are stored as text."""
        name, kind = self.fresh("labels"), self.label_type(classes)
        values = [str(label).encode() for label in classes] if kind == self.onnx.TensorProto.STRING else classes
        self.constants.append(self.onnx.helper.make_tensor(name, kind, [len(classes)], values))
        return name

    def add_text(self, words: tuple[str, ...], word: str) -> str:
        """Store a row of text."""
        name = self.fresh(word)
        encoded = [text.encode() for text in words]
        tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, [1, len(words)], encoded)
        self.constants.append(tensor)
        return name

    def add(self, operator: str, *inputs: str, out: str, **attributes: Any) -> str:
        """Append an operator and return the name of its output."""
        name = self.fresh(out)
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def slice_columns(self, matrix: str, start: int, stop: int) -> str:
        """Append an operator that takes some columns of a matrix."""
        limits = (self.add_constant([limit], word, "int64") for limit, word in ((start, "start"), (stop, "stop")))
        return self.add("Slice", matrix, *limits, self.add_constant([1], "columns", "int64"), out="part")

    def add_output(self, name: str, shape: list[str | int], kind: int | None = None) -> None:
        """Declare a tensor to be an output, of numbers unless another of ONNX's types is given."""
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind or self.number_type, shape))


# -- the table ---------------------------------------------------------------------------------------------------------


def _encode_table(graph: Graph, source: OpenModel) -> str:
    """Turn one tensor for each column into the matrix of (n_rows, n_features)."""
    pairs = [(column, find_fill(source, c)) for c, column in enumerate(source.columns) if column.inputs]
    blocks = [block for column, fill in pairs for block in _encode_column(graph, column, fill)]
    return graph.add("Concat", *blocks, out="features", axis=1)


def _encode_column(graph: Graph, column: Column, fill: float | None) -> list[str]:
    if not column.name:
        raise ValueError("ONNX inputs need names. Rename the column whose name is empty.")
    if column.kind == "category":
        text = graph.add_input(column.name, 1, is_text=True)
        is_level = graph.add("Equal", text, graph.add_text(column.levels, "levels"), out="is_level")
        return [graph.add("Cast", is_level, out="level", to=graph.number_type)]
    given = graph.add_input(column.name, 1)
    if fill is None:
        return [given]
    is_missing = graph.add("IsNaN", given, out="is_missing")
    filled = graph.add("Where", is_missing, graph.add_constant(fill, "fill"), given, out="number")
    mark = [graph.add("Cast", is_missing, out="mark", to=graph.number_type)] if column.has_missing else []
    return [filled, *mark]


# -- the rules ---------------------------------------------------------------------------------------------------------


def _predict(graph: Graph, rows: str, layout: Layout, source: OpenModel) -> None:
    n_features = layout.n_features
    rows, absent = (rows, None) if layout.usual is None else _find_missing(graph, rows, source)
    rows = rows if layout.limits is None else _hold(graph, rows, layout.limits)
    shifted = graph.add("Sub", rows, graph.add_constant(layout.origin[:n_features], "origin"), out="shifted")
    share = _share(graph, shifted, layout, absent)
    if layout.bends:
        bent = graph.add("Concat", *(_bend(graph, rows, bend) for bend in layout.bends), out="bends", axis=1)
        moved = graph.add("Sub", bent, graph.add_constant(layout.origin[n_features:], "bend_origin"), out="moved")
        shifted = graph.add("Concat", shifted, moved, out="terms", axis=1)
    n_rules, n_outputs, _ = layout.consequents.shape
    flat = layout.consequents.reshape(n_rules * n_outputs, -1)
    if absent is None:
        values = _affine(graph, shifted, flat.T, "consequents")
    else:
        values = _take_usual(graph, shifted, absent, layout)
    if n_outputs > 1:
        shape = graph.add_constant([0, n_rules, n_outputs], "shape", "int64")
        values = graph.add("Reshape", values, shape, out="values")
        share = graph.add("Unsqueeze", share, graph.add_constant([2], "last_axis", "int64"), out="share")
    weighted = graph.add("Mul", share, values, out="weighted")
    axis = graph.add_constant([1], "rule_axis", "int64")
    if source.classes is not None:
        _add_classes(graph, graph.add("ReduceSum", weighted, axis, out="outputs", keepdims=0), source.classes)
        return
    if n_outputs > source.model.n_outputs:
        _add_limits(graph, graph.add("ReduceSum", weighted, axis, out="outputs", keepdims=0), source)
        return
    keepdims = int(n_outputs == 1 and not source.is_single)
    operator, attributes = _LINKS[source.model.link]
    outputs = graph.add("ReduceSum", weighted, axis, out="outputs", keepdims=keepdims)
    y = graph.add(operator, outputs, out="y", **attributes)
    graph.add_output(y, ["n_rows"] if source.is_single else ["n_rows", n_outputs])


def _find_missing(graph: Graph, rows: str, source: OpenModel) -> tuple[str, str]:
    """Return complete rows, and a mask of (n_rows, n_features) that is 1 where a value is missing, else 0."""
    usual, profile = source.model.first.usual, source.model.profile
    assert usual is not None
    is_known = ~np.isnan(usual[0])
    fill = np.where(is_known, 0.0, np.nan if profile is None else profile.mean)
    is_nan = graph.add("IsNaN", rows, out="is_nan")
    complete = graph.add("Where", is_nan, graph.add_constant(fill, "mean"), rows, out="complete")
    number = graph.add("Cast", is_nan, out="nan", to=graph.number_type)
    return complete, graph.add("Mul", number, graph.add_constant(is_known.astype(float), "known"), out="absent")


def _take_usual(graph: Graph, terms: str, absent: str, layout: Layout) -> str:
    """Compute the outputs of formulas, with the usual values of each rule in place of missing ones."""
    assert layout.usual is not None
    features = [*range(layout.n_features), *(bend.feature for bend in layout.bends)]
    if layout.bends:
        absent = graph.add("Gather", absent, graph.add_constant(features, "places", "int64"), out="absent", axis=1)
    seen = graph.add("Sub", graph.add_constant(1.0, "one"), absent, out="seen")
    flat = layout.consequents.reshape(-1, layout.consequents.shape[2])
    said = _affine(graph, graph.add("Mul", terms, seen, out="given"), flat.T, "consequents")
    counted = (layout.consequents[:, :, 1:] * layout.usual[:, None, :]).reshape(len(flat), -1)
    usual = graph.add("MatMul", absent, graph.add_constant(counted.T, "usual"), out="counted")
    return graph.add("Add", said, usual, out="values")


def _add_classes(graph: Graph, outputs: str, classes: tuple[Any, ...]) -> None:
    """Declare labels and probabilities of classes, given an output for each."""
    place = graph.add("ArgMax", outputs, out="place", axis=1, keepdims=0)
    label = graph.add("Gather", graph.add_labels(classes), place, out="label")
    graph.add_output(label, ["n_rows"], graph.label_type(classes))
    probabilities = graph.add("Softmax", outputs, out="probabilities", axis=1)
    graph.add_output(probabilities, ["n_rows", len(classes)])


def _add_limits(graph: Graph, outputs: str, source: OpenModel) -> None:
    """Declare predictions and the limits of intervals, given predictions and half the widths side by side."""
    n_outputs = source.model.n_outputs
    y, half = (graph.slice_columns(outputs, k * n_outputs, (k + 1) * n_outputs) for k in range(2))
    limits = {"y": y, "lower": graph.add("Sub", y, half, out="low"), "upper": graph.add("Add", y, half, out="high")}
    axis = graph.add_constant([1], "output_axis", "int64")
    for word, values in limits.items():
        if source.is_single:
            graph.add_output(graph.add("Squeeze", values, axis, out=word), ["n_rows"])
        else:
            graph.add_output(graph.add("Identity", values, out=word), ["n_rows", n_outputs])


def _hold(graph: Graph, rows: str, limits: FloatArray) -> str:
    """Replace values beyond a limit by the limit; NaN stays NaN."""
    for values, word, operator in ((limits[:, 0], "low", "Less"), (limits[:, 1], "high", "Greater")):
        limit = graph.add_constant(values, word)
        rows = graph.add("Where", graph.add(operator, rows, limit, out=f"is_{word}"), limit, rows, out="held")
    return rows


def _bend(graph: Graph, rows: str, bend: Bend) -> str:
    """Compute a bend of an original feature, of shape (n_rows, 1)."""
    values = graph.add("Gather", rows, graph.add_constant([bend.feature], "feature", "int64"), out="values", axis=1)
    knot = graph.add_constant(bend.knot, "knot")
    if bend.kind == "up to":
        return graph.add("Min", values, knot, out="bend")
    above = graph.add("Sub", values, knot, out="above")
    if bend.kind == "above":
        return graph.add("Max", above, graph.add_constant(0.0, "zero"), out="bend")
    return graph.add("Log", graph.add("Max", above, graph.add_constant(bend.floor, "floor"), out="inside"), out="bend")


def _share(graph: Graph, shifted: str, layout: Layout, absent: str | None) -> str:
    """Compute normalized firing levels of (n_rows, n_rules), from distances that are not expanded into products.

    The levels of each part sum up to one.
    """
    inputs = shifted
    if layout.projection is not None:
        projected = _affine(graph, shifted, layout.projection, "projection")
        inputs = graph.add("Concat", projected, shifted, out="inputs", axis=1)
    spread = graph.add("Unsqueeze", inputs, graph.add_constant([1], "new_axis", "int64"), out="spread")
    difference = graph.add("Sub", spread, graph.add_constant(layout.centers, "centers"), out="difference")
    scaled = graph.add("Mul", difference, graph.add_constant(layout.inverse, "inverse"), out="scaled")
    square = graph.add("Pow", scaled, graph.add_constant(2.0, "two"), out="square")
    if absent is not None:
        seen = graph.add("Sub", graph.add_constant(1.0, "one"), absent, out="seen")
        there = graph.add("Unsqueeze", seen, graph.add_constant([1], "new_axis", "int64"), out="there")
        square = graph.add("Mul", square, there, out="square")
    distance = graph.add("ReduceSum", square, graph.add_constant([2], "axis", "int64"), out="distance", keepdims=0)
    bounded = graph.add("Min", distance, graph.add_constant(_LIMIT[graph.dtype], "limit"), out="bounded")
    log_firing = graph.add("Neg", bounded, out="log_firing")
    if len(layout.part_sizes) == 1:
        return graph.add("Softmax", log_firing, out="share", axis=1)
    stops = np.cumsum(layout.part_sizes).tolist()
    shares = [
        graph.add("Softmax", graph.slice_columns(log_firing, stop - size, stop), out="part_share", axis=1)
        for stop, size in zip(stops, layout.part_sizes, strict=True)
    ]
    return graph.add("Concat", *shares, out="share", axis=1)


def _affine(graph: Graph, rows: str, weights: FloatArray, word: str) -> str:
    """Compute ``weights[0] + rows @ weights[1:]``."""
    slopes, bias = graph.add_constant(weights[1:], f"{word}_slopes"), graph.add_constant(weights[0], f"{word}_bias")
    return graph.add("Gemm", rows, slopes, bias, out=word)


def _finish(graph: Graph, source: OpenModel) -> "onnx.ModelProto":
    onnx = graph.onnx
    opset = OPSET_FOR_TEXT if graph.has_text else OPSET
    proto = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "takagi", graph.inputs, graph.outputs, graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", opset)],
        ir_version=_IR_VERSION[opset],
        producer_name="takagi",
        producer_version=version("takagi"),
        doc_string=describe_model(source.model, source.columns if source.has_table else None),
    )
    names = {"feature_names": name_features(source.model), "output_names": list_predicted(source)}
    onnx.helper.set_model_props(proto, {key: json.dumps(value) for key, value in names.items()})
    onnx.checker.check_model(proto, full_check=True)
    return proto
