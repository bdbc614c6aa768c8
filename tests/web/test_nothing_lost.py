"""No click and no key gets lost, whatever the server tells meanwhile; nor does what somebody is typing."""

from __future__ import annotations

import pytest

from shoal.web.events import Events
from tests.web.conftest import run

pytestmark = pytest.mark.compiled

ROUNDS = 8


def steps_taken(page):
    """Return how many steps the history has, as the page shows it."""
    return int(page.inner_text("#to-recipe").split("(")[1].split()[0])


def wait_for_steps(page, number):
    page.wait_for_selector(f'#to-recipe:text-is("recipe ({number} steps)")')


def wait_until_changed(page, before):
    page.wait_for_selector(f'#page:not([data-version="{before}"])')


def change_something(page):
    """Give the last column another role, and wait for the answer."""
    wanted = "kept" if page.input_value("#role-6") == "sensitive" else "sensitive"
    page.select_option("#role-6", wanted)
    page.wait_for_selector(f"#role-6.{wanted}")


@pytest.fixture
def two(tabs):
    """Return two tabs on the same step that show the same."""
    first = tabs.open_people()
    second = tabs.open("/columns")
    second.wait_for_selector("#together strong")
    return first, second


def test_every_key_counts_while_another_tab_changes_things(two):
    first, second = two
    before = steps_taken(first)
    first.focus("#role-2")
    for number in range(ROUNDS):
        first.keyboard.press(str(2 + number % 4))
        change_something(second)
    wait_for_steps(first, before + 2 * ROUNDS)
    wait_for_steps(second, before + 2 * ROUNDS)
    assert first.evaluate("document.activeElement.id") == "role-2"


def test_every_click_counts_while_another_tab_changes_things(two):
    first, second = two
    first.click("#to-protect")
    first.wait_for_selector("#k-5")
    before = steps_taken(first)
    for number in range(ROUNDS):
        first.click("#k-20:not([aria-pressed])" if number % 2 == 0 else "#k-50")
        change_something(second)
    wait_for_steps(first, before + 2 * ROUNDS)


def test_a_button_that_is_held_down_stays_until_it_is_let_go(two):
    first, second = two
    first.click("#to-protect")
    first.hover("#k-5")
    before = first.get_attribute("#page", "data-version")
    first.mouse.down()
    change_something(second)
    first.wait_for_selector("body[aria-busy]")  # it has heard of the change
    assert first.get_attribute("#page", "data-version") == before
    first.mouse.up()
    first.wait_for_selector("#k-5[aria-pressed=true]")


def test_what_has_the_focus_stays_the_same_element(two):
    first, second = two
    first.focus("#role-1")
    first.evaluate("window.before = document.activeElement")
    version = first.get_attribute("#page", "data-version")
    change_something(second)
    wait_until_changed(first, version)
    assert first.evaluate("window.before === document.activeElement && window.before.isConnected")


def test_what_is_typed_and_ticked_survives_news(two):
    first, second = two
    first.goto(first.url.replace("/columns", "/hierarchies?column=job"))
    first.click("#suggest")
    first.wait_for_selector("#node-name")
    first.fill("#node-name", "half a na")
    first.check('input[value="nurse"]')
    before = first.get_attribute("#page", "data-version")
    change_something(second)
    wait_until_changed(first, before)
    assert first.input_value("#node-name") == "half a na"
    assert first.is_checked('input[value="nurse"]')


def test_a_refused_change_shows_again_what_holds(two):
    first, _ = two
    first.click("#to-protect")
    first.fill("#k-other", "1000")
    first.keyboard.press("Tab")
    first.wait_for_selector("#notice p")
    assert "Nobody can hide among 1,000" in first.inner_text("#notice")
    first.wait_for_selector("body:not([aria-busy])")
    assert first.input_value("#k-other") != "1000"


def test_nothing_can_be_clicked_before_the_page_hears_it(tabs):
    page = tabs.open()
    kept_back = []

    def keep_back(route):  # the browser refuses a method of a list as a handler
        kept_back.append(route)

    page.route("**/static/look.js", keep_back)
    page.goto(tabs.home + "/open", wait_until="commit")
    page.wait_for_selector("body[inert] .files", state="attached")
    while not kept_back:
        page.wait_for_timeout(10)
    assert page.get_attribute("body", "inert") is not None
    kept_back[0].continue_()
    page.click('.files button:has-text("people.csv")')
    page.wait_for_selector("#together strong")


def test_a_page_that_connects_is_told_what_happened_before_it_listened():
    async def read():
        events, version = Events(), 1
        stream = events.listen(lambda: [("state", version)])
        version = 2
        events.publish("state", version)
        return await anext(stream)

    assert run(read()) == "event: state\ndata: 2\n\n"


def test_a_page_that_was_away_too_long_is_told_how_everything_stands():
    async def read():
        events = Events()
        stream = events.listen(lambda: [("state", 7)])
        await anext(stream)
        for number in range(1500):
            events.publish("job", number)
        return await anext(stream)

    assert run(read()) == "event: state\ndata: 7\n\n"
