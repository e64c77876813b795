"""``takagi warm-up``: compile before the first fit, such as when an image is built."""

from takagi.cli._console import print_json, print_text, set_output
from takagi.cli._options import AsJson, Quiet


def fill_cache(as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Compile what fits and predictions need and keep it, so that the first fit does not wait.

    The machine code goes to the folder in TAKAGI_CACHE_DIR, else beside the installed package, else with the user's own
    files: the first of them that can be written to. Once it is there, it need not be writable any more.
    """
    from takagi import workflow

    set_output(quiet=quiet, silent=quiet or as_json)
    folder, seconds = workflow.warm_up()
    if as_json:
        print_json({"folder": folder, "seconds": seconds})
    else:
        print_text(f"Compiled code is in {folder} ({seconds:.1f} s)")
