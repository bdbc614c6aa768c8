"""Pictures of the web interface for README and docs, one a step, light and dark: ``python -m tests.web.pictures [STEP ...]``.

They are made by the page as it is, on the demo register. Without Pillow they are kept as the browser made them, in more colours.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.web.conftest import ARGUMENTS, PATIENCE, serving, wait_until, write_people

HOME = Path(__file__).parents[2] / "docs" / "pictures"
_COLOURS = 160
"""So many are enough for words and bars, and keep a picture below 120 kB."""


def open_table(page: Page) -> None:
    """Show the tables of the folder."""
    page.wait_for_selector(".files button")


def columns(page: Page) -> None:
    """Open the demo register and wait until all is counted, and the closer preview and the prices of ways out are there."""
    page.click("#demo")
    page.wait_for_selector("#together .set")
    page.wait_for_selector('#live-state[data-state=made]:not(:has-text("closer"))')
    for way in page.locator(".ways li").all():
        way.locator(".price").wait_for()


def hierarchies(page: Page) -> None:
    """Decide on the last column, and show the hierarchy of the jobs."""
    page.click("#keep-rest")
    page.wait_for_selector("#keep-rest", state="detached")
    page.click("#to-hierarchies")
    page.click('.many a:has-text("job")')
    page.wait_for_selector('#editor[data-column="job"] .tree li.group')


def protect(page: Page) -> None:
    """Choose the quick search, and ask for different diagnoses in each group."""
    page.click("#to-protect")
    page.select_option("#effort", "fast")
    page.wait_for_selector('#effort option[value="fast"][selected]', state="attached")
    page.check("#model-l-diversity")
    page.wait_for_selector("#model-l-diversity[checked]")
    page.wait_for_selector('#live-state[data-state=made]:not(:has-text("closer"))')


def compare(page: Page) -> None:
    """Compare two methods for a few sizes of k."""
    page.click("#to-compare")
    page.fill("#ks", "5, 10, 20, 50")
    page.click("#compare")
    page.wait_for_selector("#take-optimize-50")
    page.wait_for_selector("#job-compare", state="hidden")


def look(page: Page) -> None:
    """Make the release and ask for the reason of a cell."""
    page.click("#to-protect")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")
    page.click("#pairs tbody tr:nth-child(2) .changed >> nth=1")
    page.wait_for_selector("#why:not([hidden])")


def questions(page: Page) -> None:
    """Ask what the jobs are worth."""
    page.click("#tab-questions")
    page.fill("#questions", "cost ~ sex + job")
    page.click("#ask-now")
    page.wait_for_selector("#answers")
    wait_until(page, "document.querySelector('.drawn').naturalWidth > 0")


def publish(page: Page) -> None:
    """Write the files."""
    page.click("#to-publish")
    page.wait_for_selector("#publish-form")
    for box in page.locator("input[name=read]").all():
        box.check()
    page.click("#publish")
    page.wait_for_selector("#published")


STEPS: dict[str, Callable[[Page], None]] = {
    "open": open_table, "columns": columns, "hierarchies": hierarchies, "protect": protect, "compare": compare, "look": look,
    "questions": questions, "publish": publish,
}  # fmt: skip


def shoot(page: Page, target: Path, scheme: str) -> None:
    """Write a picture of what is shown, in one colour scheme."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_load_state("networkidle")
    if page.locator("#frontier").count():
        page.wait_for_selector(f'#frontier[data-drawn*="dark={str(scheme == "dark").lower()}"]')
    drawn = "dark => [...document.querySelectorAll('picture img')].every(one => one.complete && one.currentSrc.includes('dark=1') === dark)"
    if page.locator(".drawn").count():
        wait_until(page, drawn, scheme == "dark")
    page.mouse.move(0, 0)
    page.screenshot(path=target)
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(target) as picture:
        picture.convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            target, optimize=True
        )


def main(wanted: list[str], home: Path = HOME, width: int = 1280) -> None:
    """Go the whole way and write the pictures of the steps that are named, or of all."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "patients"
        folder.mkdir()
        for rows, name in ((2000, "patients-2025.csv"), (1500, "patients-2026.csv"), (300, "voters.csv")):
            write_people(folder / name, rows)
        _, address = stack.enter_context(serving(folder))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        for step, go in STEPS.items():
            if step == "compare" and step not in (wanted or STEPS):
                continue  # it takes longest, and the steps after it do not need it
            go(page)
            if step in (wanted or STEPS):
                shoot(page, home / f"page-{step}.png", "light")
                shoot(page, home / f"page-{step}-dark.png", "dark")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
