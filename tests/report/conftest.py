"""A headless browser for the tests of the page, and the pages they open."""

import shutil

import pytest
from reported import MODELS, resize

from takagi.report import ModelReport

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--force-prefers-reduced-motion",
)  # fmt: skip


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return the path of a page by its name; it is written once."""
    written = {}

    def find(name):
        if name not in written:
            model, X, y = MODELS[name]()
            path = tmp_path_factory.mktemp("report") / f"{name}.html"
            written[name] = ModelReport(model, X, y, row=3, simplify=name == "diabetes").write_html(path)
        return written[name]

    return find


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """Start one browser for all tests."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    """Return the browser as wide as a desk's, in light colors, on screen, and with empty logs."""
    resize(chromium, 1280)
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    return chromium
