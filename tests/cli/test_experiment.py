import json

import pytest

from takagi.cli import main
from takagi.experiments import Store
from takagi.experiments._claims import CLAIMS


def call(capsys, *words):
    """Run a command; return its exit code, output and errors."""
    with pytest.raises(SystemExit) as ended:
        main(["experiment", *map(str, words)])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


@pytest.fixture
def store(tmp_path):
    Store(tmp_path / "store")
    return tmp_path / "store"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "fig44"], "did you mean 'fig4'"),
        (["run", "fig4", "--datasets", "Yacth"], "did you mean 'Yacht'"),
        (["run", "fig4", "--rules", "abc"], "--rules takes some of"),
        (["run", "fig4", "--rules", "3"], "--rules takes some of"),
        (["run", "fig4", "--repeats", "0"], "repeats"),
        (["run", "fig4", "--backend", "thread"], "did you mean 'threads'"),
        (["draw", "fig9"], "is unknown"),
    ],
)
def test_misuse_is_explained_with_exit_code_2(capsys, tmp_path, words, message):
    code, _, errors = call(capsys, *words, "--store", tmp_path / "store")
    assert code == 2
    assert message in " ".join(errors.replace("│", " ").split())


def test_empty_store_says_what_to_run(capsys, store):
    for command in ("show", "draw"):
        code, _, errors = call(capsys, command, "fig4", "--store", store)
        assert code == 1
        assert "takagi experiment run fig4" in errors


def test_missing_store_and_files_in_its_place_are_named(capsys, tmp_path):
    code, _, errors = call(capsys, "show", "fig4", "--store", tmp_path / "none")
    assert (code, "there is no store" in errors) == (1, True)
    (tmp_path / "file").write_text("")
    code, _, errors = call(capsys, "claims", "--store", tmp_path / "file")
    assert (code, "is a file" in errors) == (1, True)


def test_claims_are_json_for_machines(capsys, store):
    code, output, _ = call(capsys, "claims", "--store", store, "--json")
    claims = json.loads(output)["claims"]
    assert code == 0
    assert len(claims) == len(CLAIMS)
    assert {claim["verdict"] for claim in claims} == {"not decided"}
    assert claims[0]["p_value"] is None
