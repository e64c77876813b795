"""``python -m takagi`` is the command ``takagi``."""

from takagi.cli import main

main()
