"""Eight doubles as one value in compiled code.

`load_vector` takes eight neighbors of an array, ``+ - * /`` and the functions below compute with them, and `store` puts
them back; a double beside a vector stands for itself in every lane. LLVM turns a vector into whatever registers the
machine has: one of 512 bits, two of 256 or four of 128. Loops written this way do not depend on what LLVM's loop
vectorizer makes of them.
"""

import operator

from llvmlite import ir
from numba import njit, types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from takagi.kernels._arrays import LANES


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_lanes = _LanesType()
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INTEGERS = ir.VectorType(ir.IntType(64), LANES)
_PREFETCH = "llvm.prefetch.p0i8"


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def _integers(values):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(values)), values)


def _spread(builder, value):
    """Put a double into every lane; return a vector as it is."""
    if value.type == _VECTOR:
        return value
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    single = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, undefined, _integers([0] * LANES))


# -- Operators and functions ------------------------------------------------------------------------------------------


def _define_operator(symbol, instruction):
    """Make `symbol` work on two vectors, or on a vector and a double."""
    operands = [(_lanes, _lanes), (_lanes, types.float64), (types.float64, _lanes)]

    @infer_global(symbol)
    class _Template(ConcreteTemplate):
        cases = [signature(_lanes, *pair) for pair in operands]

    def lower(context, builder, sig, args):
        return getattr(builder, instruction)(_spread(builder, args[0]), _spread(builder, args[1]))

    for pair in operands:
        lower_builtin(symbol, *pair)(lower)


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")
_define_operator(operator.truediv, "fdiv")


def _define_function(emit, n_arguments):
    """Make an emitter of vector instructions a compiled function of vectors and doubles."""

    def codegen(context, builder, sig, args):
        return emit(builder, *(_spread(builder, value) for value in args))

    return intrinsic(
        (
            lambda typingctx, a: (_lanes(a), codegen),
            lambda typingctx, a, b: (_lanes(a, b), codegen),
            lambda typingctx, a, b, c: (_lanes(a, b, c), codegen),
        )[n_arguments - 1]
    )


def _emit_call(name):
    """Return an emitter of an LLVM intrinsic."""

    def emit(builder, *vectors):
        full_name = f"llvm.{name}.v{LANES}f64"
        function = builder.module.globals.get(full_name)
        if function is None:
            kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(vectors))
            function = ir.Function(builder.module, kind, full_name)
        return builder.call(function, vectors)

    return emit


def _emit_min(builder, a, b):
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _emit_max(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _emit_keep_up_to(builder, a, limit, value):
    """Write the value where a is at most the limit, and else zero."""
    return builder.select(builder.fcmp_ordered("<=", a, limit), value, ir.Constant(_VECTOR, [0.0] * LANES))


def _emit_power_of_two(builder, exponent):
    """Write the bits of 2**exponent, for whole numbers."""
    bits = builder.add(builder.fptosi(exponent, _INTEGERS), ir.Constant(_INTEGERS, [1023] * LANES))
    return builder.bitcast(builder.shl(bits, ir.Constant(_INTEGERS, [52] * LANES)), _VECTOR)


splat = _define_function(lambda builder, a: a, 1)
fma = _define_function(_emit_call("fma"), 3)
vector_min = _define_function(_emit_min, 2)
vector_max = _define_function(_emit_max, 2)
keep_up_to = _define_function(_emit_keep_up_to, 3)
copy_sign = _define_function(_emit_call("copysign"), 2)
vector_sqrt = _define_function(_emit_call("sqrt"), 1)
vector_abs = _define_function(_emit_call("fabs"), 1)
vector_rint = _define_function(_emit_call("rint"), 1)
power_of_two = _define_function(_emit_power_of_two, 1)


@njit(inline="always")
def vector_exp(x):
    """Compute exp to about one unit in the last place, for x in [-700, 700].

    The polynomial is the Chebyshev fit of degree 11 to exp between -log(2) / 2 and log(2) / 2.
    """
    k = vector_rint(x * 1.4426950408889634)
    f = fma(k, -1.42860682030941723212e-6, fma(k, -6.93145751953125e-1, x))
    p = fma(2.5110049204818658e-08, f, 2.763265472252779e-07)
    p = fma(p, f, 2.755724088722987e-06)
    p = fma(p, f, 2.4801485441561313e-05)
    p = fma(p, f, 0.00019841269890076403)
    p = fma(p, f, 0.0013888888952352863)
    p = fma(p, f, 0.008333333333319589)
    p = fma(p, f, 0.04166666666648795)
    p = fma(p, f, 0.1666666666666668)
    p = fma(p, f, 0.5000000000000019)
    p = fma(p, f, 1.0)
    p = fma(p, f, 1.0)
    return p * power_of_two(k)


# -- From lanes to a double, and between lanes and memory -------------------------------------------------------------


def _define_fold(combine):
    """Make a compiled reduction of a vector to a double, by halves."""

    def emit(builder, vector):
        width = LANES
        while width > 1:
            width //= 2
            low = builder.shuffle_vector(vector, vector, _integers(list(range(width))))
            high = builder.shuffle_vector(vector, vector, _integers(list(range(width, 2 * width))))
            vector = combine(builder, low, high)
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    @intrinsic
    def fold(typingctx, a):
        return types.float64(_lanes), lambda context, builder, sig, args: emit(builder, args[0])

    return fold


lanes_sum = _define_fold(lambda builder, a, b: builder.fadd(a, b))
lanes_min = _define_fold(_emit_min)


def _vector_pointer(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


@intrinsic
def load_vector(typingctx, array, index):
    """Return ``array[index : index + LANES]`` of a contiguous array as a vector."""

    def codegen(context, builder, sig, args):
        vector = builder.load(_vector_pointer(context, builder, sig.args[0], *args))
        vector.align = 8
        return vector

    return _lanes(array, types.intp), codegen


@intrinsic
def load_splat(typingctx, array, index):
    """Return ``array[index]`` in every lane; the index is not checked for being negative, which saves time."""

    def codegen(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return _spread(builder, builder.load(builder.gep(data, [args[1]])))

    return _lanes(array, types.intp), codegen


@intrinsic
def store(typingctx, array, index, vector):
    """Set ``array[index : index + LANES]`` of a contiguous array."""

    def codegen(context, builder, sig, args):
        pointer = _vector_pointer(context, builder, sig.args[0], *args[:2])
        builder.store(_spread(builder, args[2]), pointer).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), codegen


@intrinsic
def prefetch(typingctx, array, index):
    """Ask for the entry of a contiguous array that will be needed soon; an index into all of its entries."""

    def codegen(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function = builder.module.globals.get(_PREFETCH)
        if function is None:
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
            function = ir.Function(builder.module, kind, _PREFETCH)
        builder.call(function, [pointer, *(ir.Constant(number, option) for option in (0, 2, 1))])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen
