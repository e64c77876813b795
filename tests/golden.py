"""Golden files: texts that were looked at once. TAKAGI_GOLDEN=write python -m pytest ... writes them anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    path = FOLDER / f"{name}.txt"
    if os.environ.get("TAKAGI_GOLDEN") == "write":
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")
