"""Draw the packages of takagi and their imports, read from the sources, for docs/architecture.md.

A package stands above all that it imports. Of the imports, only those are drawn that do not follow from others: where a
package imports a second one, and that one a third, no arrow leads from the first to the third. Small private modules,
which nearly all packages import, are one bar at the bottom.

``python benchmarks/draw_architecture.py docs/images/architecture.png`` writes the picture.
"""

import ast
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import takagi

SOURCE = Path(__file__).parents[1] / "src" / "takagi"
SUPPORT = "support"
# Modules that are a part of a noun.
MERGED = dict.fromkeys(
    (
        "profile",
        "calibration",
        "_conditions",
        "_wording",
        "bend",
        "rulemodel",
        "scores",
        "known",
        "memory",
        "predictors",
    ),
    "rulebase",
)
EXPORTED = {name: getattr(takagi, name).__module__.split(".")[1] for name in takagi.__all__}

DATA, LEARN, MODEL, READ, APPLY, CODE = "#d9e7f5", "#fbe3c9", "#f6f1b8", "#d8ecd3", "#e8dcf0", "#f3d4d4"
COLORS = {
    "programs": APPLY,
    "read and use a model": READ,
    "learn rules": LEARN,
    "the model": MODEL,
    "data": DATA,
    "compiled code": CODE,
}
ARROW = {"arrowstyle": "-|>", "mutation_scale": 12, "color": "#666666", "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0}
COLUMN, LAYER, WIDTH, HEIGHT, PADDING = 2.1, 1.08, 1.8, 0.64, 0.04

# Where a package stands from left to right, its color, and what it is for. How high it stands follows from the imports.
BOXES = {
    "cli": (4.2, APPLY, "the command takagi"),
    "workflow": (3.3, APPLY, "from a table on disk\nto a scored model"),
    "experiments": (0.0, APPLY, "the paper's algorithms,\nfigures and claims"),
    "report": (6.0, READ, "one HTML page"),
    "persistence": (2.0, READ, "model files"),
    "simplification": (4.7, READ, "fewer rules\nand conditions"),
    "inspection": (5.0, READ, "text, explanations,\nimportance, plots"),
    "export": (6.0, READ, "ONNX, C, .fis, JSON"),
    "estimators": (2.0, LEARN, "scikit-learn's interface"),
    "streaming": (2.0, LEARN, "block by block"),
    "fitting": (2.0, LEARN, "plan, pilots, training,\ndistillation"),
    "training": (2.0, LEARN, "one training:\nlosses, bounds"),
    "initializers": (1.0, LEARN, "the first rules"),
    "optimizers": (3.0, LEARN, "update rules"),
    "_model": (4.7, MODEL, "a model opened: rules,\ncolumns, scalers"),
    "rulebase": (2.0, MODEL, "the rules as a value,\nsums, profile, words"),
    "kernels": (2.0, CODE, "training, prediction,\nclustering with numba"),
    "tables": (4.0, DATA, "from files and tables\nto a matrix"),
    "datasets": (0.0, DATA, "the paper's 22 sets"),
}


def read_imports(source=SOURCE):
    """Return the boxes that each box imports."""
    imports = {}
    for path in sorted(source.rglob("*.py")):
        own = place_module(path.relative_to(source).parts[0].removesuffix(".py"))
        if own is not None:
            found = {place_module(name) for name in list_names(ast.parse(path.read_text()))}
            imports.setdefault(own, set()).update(found - {own, None})
    return imports


def list_names(tree):
    """Yield the first name below takagi of every import, but not of those for type checkers only."""
    body = [node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))]
    for node in (inner for outer in body for inner in ast.walk(outer)):
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in dotted if name.startswith("takagi."))


def place_module(name):
    """Return the box that a module is in; none for the entry points, which are not drawn."""
    if name in ("__init__", "__main__"):
        return None
    name = EXPORTED.get(name, name)
    name = MERGED.get(name, name)
    return SUPPORT if name.startswith("_") and name not in BOXES else name


def reduce_imports(imports):
    """Return the imports that do not follow from others."""
    reach = {}

    def follow(name):
        if name not in reach:
            reach[name] = set().union(*({other} | follow(other) for other in imports[name]))
        return reach[name]

    return {
        name: {other for other in others if not any(other in follow(third) for third in others)}
        for name, others in imports.items()
    }


def find_levels(imports):
    """Return how high each box stands: one above the highest that it imports."""
    levels = {}

    def climb(name):
        if name not in levels:
            levels[name] = 1 + max((climb(other) for other in imports[name]), default=-1)
        return levels[name]

    for name in imports:
        climb(name)
    return levels


def draw(imports):
    """Return the figure."""
    levels = find_levels(imports)
    top = max(levels.values())
    figure = Figure(figsize=(11, 9.6), layout="constrained")
    ax = figure.add_subplot()
    ax.set_axis_off()
    ax.set_xlim(-WIDTH / 2 - 0.1, 6 * COLUMN + WIDTH / 2 + 0.1)
    ax.set_ylim(-LAYER - 0.4, top * LAYER + 0.45)
    places = {name: (BOXES[name][0] * COLUMN, levels[name] * LAYER) for name in imports if name != SUPPORT}
    for name, others in reduce_imports(imports).items():
        for other in others - {SUPPORT}:
            draw_arrow(ax, places[name], places[other])
    for name, place in places.items():
        draw_box(ax, place, WIDTH, BOXES[name][1], name, BOXES[name][2])
    modules = "messages, text, types, files, checks of rows; nearly all packages import some of them"
    draw_box(ax, (3 * COLUMN, -LAYER), 6 * COLUMN + WIDTH, "#eeeeee", "small private modules", modules)
    for i, (meaning, color) in enumerate(COLORS.items()):
        y = top * LAYER + 0.2 - 0.34 * i
        ax.text(-WIDTH / 2, y, f"  {meaning}  ", backgroundcolor=color, fontsize=10.5, va="center")
    return figure


def draw_box(ax, place, width, color, name, purpose):
    x, y = place
    corner = (x - width / 2, y - HEIGHT / 2)
    style = f"round,pad={PADDING},rounding_size=0.1"
    ax.add_patch(FancyBboxPatch(corner, width, HEIGHT, boxstyle=style, facecolor=color, edgecolor="#555555", zorder=2))
    n_lines = 1 + purpose.count("\n")
    ax.text(x, y + 0.1 + 0.045 * n_lines, name, ha="center", va="center", weight="bold", fontsize=12, zorder=3)
    ax.text(x, y - 0.15, purpose, ha="center", va="center", fontsize=8.8, linespacing=1.05, zorder=3)


def draw_arrow(ax, start, end):
    """Draw an arrow from the lower edge of a box to the upper edge of another one."""
    ends = (start[0], start[1] - HEIGHT / 2), (end[0], end[1] + HEIGHT / 2 + PADDING)
    ax.add_patch(FancyArrowPatch(*ends, **ARROW))


if __name__ == "__main__":
    mpl.use("agg")
    draw(read_imports()).savefig(sys.argv[1], dpi=110, metadata={"Software": None})
