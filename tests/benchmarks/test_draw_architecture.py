import pytest

import house

draw_architecture = pytest.importorskip("draw_architecture", exc_type=ImportError)


def test_every_package_is_drawn_above_those_that_it_imports(tmp_path):
    imports = draw_architecture.read_imports()
    assert {path.parent.name for path in house.SOURCE.glob("*/__init__.py")} <= set(imports)
    assert set(imports) - {draw_architecture.SUPPORT} == set(draw_architecture.BOXES)
    levels = draw_architecture.find_levels(imports)
    assert all(levels[name] > levels[other] for name, others in imports.items() for other in others)
    draw_architecture.draw(imports).savefig(tmp_path / "architecture.png")
    assert (tmp_path / "architecture.png").stat().st_size > 50_000


def test_imports_that_follow_from_others_are_left_out():
    imports = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert draw_architecture.reduce_imports(imports) == {"a": {"b"}, "b": {"c"}, "c": set()}
