"""The tables of `performance.py`, from the numbers of its parts."""

from collections.abc import Callable, Sequence
from typing import Any

from _performance_parts import MODELS
from predict_stream import COLUMNS
from roofline import Work

Numbers = Any
_OURS = next(iter(MODELS))


def draw(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table, the first column to the left and the others to the right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _part(value: float) -> str:
    return f"{100 * value:.0f} %"


def _brief(value: float) -> str:
    """Write a number with about three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(value: float) -> str:
    """Write a ratio with two digits, or as a whole number."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


# -- one table a part --------------------------------------------------------------------------------------------------


def draw_training(found: Numbers) -> str:
    """Return microseconds per iteration, and parts of dgemm's rate."""
    columns = [
        *("rows", "features", "rules", "no validation", "of dgemm", "validation rows", "with validation", "of dgemm"),
    ]
    rows = [
        [
            *(f"{one[name]:,}" for name in ("rows", "features", "rules")),
            *(f"{_brief(one['plain'])} us", _part(one["plain part"])),
            *(f"{one['validation rows']:,}", f"{_brief(one['validated'])} us", _part(one["validated part"])),
        ]
        for one in found
    ]
    rates = [one["dgemm"] for one in found]
    return f"dgemm ran at {min(rates):.0f} to {max(rates):.0f} GFLOP/s in the same run.\n\n{draw(columns, rows)}"


def draw_roofline(found: Numbers) -> str:
    """Return what operations cost, and the bound beside the time that was measured."""
    costs = ", ".join(f"{name} {found[0][f'{name} ns']:.2g}" for name in Work._fields)
    names = [*Work._fields, "bound", "measured"]
    rows = [
        [
            f"{one['features']} x {one['rules']}",
            *(f"{one[f'{name} us']:.1f}" for name in names),
            *(_part(one["bound part"]), _part(one["measured part"])),
        ]
        for one in found
    ]
    table = draw(["features x rules", *names, "bound, of dgemm", "measured, of dgemm"], rows)
    return f"Nanoseconds of eight at a time: {costs}.\nMicroseconds per iteration:\n\n{table}"


def draw_single(found: Numbers) -> str:
    """Return what single precision gains and costs."""
    rows = []
    for name, seconds in found["gain"].items():
        loss = found["loss"][name]
        gains = seconds["double"] / seconds["single"], seconds["double product"] / seconds["single product"]
        rows.append([name, *(f"{gain:.2f}" for gain in gains), *(f"{loss[kind]:.5f}" for kind in ("double", "single"))])
    table = draw(["training in NumPy", "times faster", "matrix product", "RMSE, double", "RMSE, single"], rows)
    drift = ", ".join(f"{size:.0e} at {float(shift):g}" for shift, size in found["drift"].items())
    return f"{table}\n\nLargest drift of a prediction, by how many deviations columns lie from zero: {drift}."


def draw_steps(found: Numbers) -> str:
    """Return microseconds per row visited, beside those of takagi."""
    cost, (ours, plain) = found["cost"], list(found["cost"])[:2]
    rows = [[name, f"{us:.2f}", _ratio(us / cost[ours]), _ratio(us / cost[plain])] for name, us in cost.items()]
    return draw([f"{found['data']}, 16 rules", "us per row visited", "to takagi", "to takagi, no validation"], rows)


def draw_fits(found: Numbers) -> str:
    """Return processor seconds, ratios to ours, and test errors."""
    columns = ["model", *(f"{int(n):,} rows" for n in found)]
    rows = []
    for name in next(iter(found.values())):
        cells = []
        for models in found.values():
            if name not in models:
                cells.append("")
                continue
            ours, one = models[_OURS], models[name]
            cells.append(f"{_brief(one['seconds'])} s ({_ratio(one['seconds'] / ours['seconds'])}), {one['error']:.3f}")
        rows.append([name, *cells])
    return draw(columns, rows)


def draw_growth(found: Numbers) -> str:
    """Return seconds and memory of default fits."""
    rows = [
        [f"{int(n):,}", f"{one['seconds']:.2f} s", f"{_brief(one['growth'])} MB", f"{_brief(one['data'])} MB"]
        for n, one in found.items()
    ]
    return draw(["rows", "fit", "memory beside the data", "the data"], rows)


def draw_overhead(found: Numbers) -> str:
    """Return the parts of a fit."""
    names = {"fit": "fit", "make_rules": "first rules", "train_block": "kernel", "around": "around"}
    return draw(["500 x 8, 1,000 iterations", *names.values()], [["ms", *(f"{found[n]:.1f}" for n in names)]])


def draw_startup(found: Numbers) -> str:
    """Return processor seconds of commands, beside the import of scikit-learn."""
    unit = next(iter(found["commands"].values()))
    commands = draw(
        ["process", "seconds", "to the first"],
        [[name, f"{seconds:.2f}", f"{seconds / unit:.2f}"] for name, seconds in found["commands"].items()],
    )
    columns = {"import takagi": "import takagi", "first": "first fit", "second": "second fit"}
    fits = draw(
        ["machine code", *columns.values()],
        [[name, *(f"{found[name][c]:.2f} s" for c in columns)] for name in ("empty", "filled")],
    )
    return f"{commands}\n\n{fits}"


def draw_predictions(found: Numbers) -> str:
    """Return microseconds of one row and millions of rows per second of many, with ratios to ours."""
    rows = []
    for name, seconds in found.items():
        cells = []
        for n in seconds:
            ratio = seconds[n] / found[_OURS][n]
            speed = f"{_brief(seconds[n] * 1e6)} us" if n == "1" else f"{_brief(int(n) / seconds[n] / 1e6)} M/s"
            cells.append(f"{speed} ({_ratio(ratio)})")
        rows.append([name, *cells])
    return draw(["model, fitted to 5,000 x 10", "one row", "1,000 rows", "100,000 rows"], rows)


def draw_threads(found: Numbers) -> str:
    """Return rows per second with one thread and with all cores, and memory."""
    rows = [
        [
            f"{one['rows']:,}",
            one["rules"],
            *(f"{_brief(one['rows'] / one[name] / 1e6)} million rows/s" for name in ("one", "all")),
            *(f"{_brief(max(one[f'{name} MB'], 0.0))} MB" for name in ("one", "all")),
        ]
        for one in found
    ]
    return draw(["rows", "rules", "one thread", "all cores", "memory beside in- and output", "all cores"], rows)


def draw_files(found: Numbers) -> str:
    """Return what `takagi predict` does with files."""
    return draw(COLUMNS, found)


def draw_simplify(found: Numbers) -> str:
    """Return what simplification takes, and what it leaves."""
    rows = [
        [
            f"{one['rules']} x {one['features']}",
            f"{one['seconds']:.1f} s",
            *(one["steps"], " -> ".join(map(str, one["words"])), f"{100 * one['loss']:+.0f} %"),
        ]
        for one in found
    ]
    return draw(["rules x features", "processor time", "steps", "words", "validation error"], rows)


TABLES: dict[str, Callable[[Numbers], str]] = {
    "training": draw_training,
    "roofline": draw_roofline,
    "single": draw_single,
    "steps": draw_steps,
    "fits": draw_fits,
    "growth": draw_growth,
    "overhead": draw_overhead,
    "startup": draw_startup,
    "predictions": draw_predictions,
    "threads": draw_threads,
    "files": draw_files,
    "simplify": draw_simplify,
}
