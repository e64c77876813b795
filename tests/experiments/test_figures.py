import pytest

from takagi.experiments import MissingRunsError, Store, draw, rank_algorithms
from takagi.experiments._figures import draw_ranks

SLOW_FIGURES = [pytest.param(name, marks=pytest.mark.slow) for name in ("fig3a", "fig3b")]


@pytest.mark.parametrize("figure", [*SLOW_FIGURES, "fig4", "fig6", "fig7", "fig8"])
def test_figure_is_written_as_png_and_svg(full_store, figure, tmp_path):
    paths = draw(figure, full_store, tmp_path)
    assert [path.name for path in paths] == [f"{figure}.png", f"{figure}.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in paths[1].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{figure}.png", f"{figure}.svg"]


def test_ranks_are_drawn(full_store, tmp_path):
    ranking = rank_algorithms(full_store)[0]
    draw_ranks(ranking.ranks, ranking.critical_difference, tmp_path / "ranks.png")
    assert (tmp_path / "ranks.png").stat().st_size > 1000


def test_nothing_is_written_without_runs(tmp_path):
    with pytest.raises(MissingRunsError):
        draw("fig3a", Store(tmp_path / "store"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
