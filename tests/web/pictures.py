"""Pictures of the page for README and docs, made by the page as it is: ``python -m tests.web.pictures``."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.web.conftest import ARGUMENTS, PATIENCE, serving

HOME = Path(__file__).parents[2] / "docs" / "pictures"


def columns(page: Page) -> None:
    """Open the demo register and wait until all is counted, and the closer preview and the prices of ways out are there."""
    page.click("#demo")
    page.wait_for_selector("#together .set")
    page.wait_for_selector('#live-state[data-state=made]:not(:has-text("closer"))')
    for way in page.locator(".ways li").all():
        way.locator(".price").wait_for()


def why(page: Page) -> None:
    """Make a release quickly and ask for the reason of a cell."""
    page.click("#to-protect")
    page.select_option("#effort", "fast")
    page.wait_for_selector('#effort option[value="fast"][selected]', state="attached")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")
    page.click("#pairs tbody tr:nth-child(2) .changed >> nth=1")
    page.wait_for_selector("#why:not([hidden])")


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder, serving(folder) as (_, address), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        for name, go in {"columns": columns, "look": why}.items():
            go(page)
            page.mouse.move(0, 0)
            page.screenshot(path=HOME / f"page-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
