import signal

import matplotlib

matplotlib.use("agg")


def pytest_configure():
    """Let Ctrl-C be what it is in a terminal: a shell's background jobs begin with a deaf ear to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
