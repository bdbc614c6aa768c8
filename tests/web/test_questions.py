"""Questions in the step Look: what analyses find before and after a release, for the holder."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from shoal.web.routes.questions import examples
from shoal.web.routes.rendering import templates
from tests.web.conftest import write_people

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    write_people(home / "people.csv")
    return home


@pytest.fixture
def made(hands):
    """Return the page with a release, and the number of it."""
    assert hands.open("people.csv") == "done"
    if "panel-questions" not in hands.show("look"):
        assert hands.make(5) == "done"
    return hands, int(re.findall(r'name="number" value="(\d+)"', hands.show("look"))[0])


@pytest.mark.parametrize(
    ("value", "words"), [(8981.4, "8,981"), (-999.7, "-1,000"), (99.96, "100"), (0.04127, "0.0413"), (0.0, "0")]
)
def test_figures_are_written_as_people_write_them(value, words):
    assert templates().filters["brief"](value) == words


def column(name, kind="text", distinct=4):
    return {"name": name, "type": kind, "distinct": distinct}


def test_estimates_of_the_original_and_of_each_way_are_shown_as_the_holders_own(made, folder):
    hands, number = made
    assert 'id="answers"' not in hands.show("look")
    assert (
        hands.post("look/questions", questions="age ~ sex\n", example="crosstab(diagnosis, sex)", number=number)
        == "done"
    )
    page = hands.show("look")
    assert "It is for its holder, not for publication." in page
    assert re.search(r'<textarea name="questions"[^>]*>age ~ sex\ncrosstab\(diagnosis, sex\)</textarea>', page)
    for way in ("midpoints", "expected", "completed"):
        assert re.search(rf'<th scope="col"><span title="[^"]+">{way}</span> <span class="quiet">overlap', page)
    rows = [line.split(",") for line in (folder / "people.csv").read_text().splitlines()[1:]]
    women = np.mean([int(row[1]) for row in rows if row[2] == "F"])
    shown = re.findall(r'<th scope="row">Intercept</th><td><span class="word">([^<]+)</span>', page)
    assert shown == [f"{women:.3g}"]
    share = np.mean([(row[5], row[2]) == ("asthma", "M") for row in rows])
    assert re.findall(r'<th scope="row">asthma, M</th><td><span class="word">([^<]+)</span>', page) == [f"{share:.3g}"]
    picture = hands.client.get(f"{hands.home}look/questions/{number}.svg")
    assert picture.headers["content-type"].startswith("image/svg")
    assert "asthma, M" in picture.text
    assert 'fill="white"' not in hands.client.get(f"{hands.home}look/questions/{number}.svg?dark=1").text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age ~ sx", "The release has no column 'sx'"),
        ("crosstab(jb, sex)", "The release has no column 'jb'"),
        ("age +", "cannot be read"),
        ("age ~ name", "The release has no column 'name'"),  # it was removed
        ("", "Got 0"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(made, text, words):
    hands, number = made
    told = hands.post("look/questions", questions=text, number=number)
    assert words in told
    assert "an internal error" not in told


def test_questions_are_about_the_release_that_the_tab_shows(made):
    hands, number = made
    assert "another" not in hands.post("look/questions", questions="age ~ sex", number=number)
    assert f"This tab shows release {number + 7}" in hands.post(
        "look/questions", questions="age ~ sex", number=number + 7
    )
    assert hands.client.get(f"{hands.home}look/questions/{number + 7}.svg").status_code == 404


def test_questions_that_take_long_can_be_cancelled(made):
    hands, number = made
    headers = {"x-shoal-edition": hands.edition()}
    body = {"questions": "crosstab(diagnosis, job)", "number": number}
    hands.client.post(f"{hands.home}look/questions", json=body, headers=headers)
    assert 'data-post="jobs/questions/cancel"' in hands.show("look")
    assert hands.post("jobs/questions/cancel") == "done"
    assert (
        hands.post("look/questions", questions="crosstab(sex, job)", number=number) == "done"
    )  # the worker began again


def test_examples_fit_the_columns_of_the_release(made):
    hands, _ = made
    found = [html.unescape(one) for one in re.findall(r'name="example" value="([^"]+)"', hands.show("look"))]
    assert "crosstab(job, sex)" in found
    assert not any("name" in one for one in found)  # it was removed


@pytest.mark.parametrize(
    ("columns", "quasi", "wanted"),
    [
        (
            [column("age", "whole number", 60), column("sex", distinct=2), column("hours per week", "number", 90)],
            ["age", "sex"],
            ["`hours per week` ~ age + sex"],
        ),
        (
            [column("arm", distinct=2), column("died", distinct=2), column("days", "whole number", 300)],
            ["arm"],
            ["km(days, died, by=arm)", "days ~ arm", "crosstab(died, arm)"],
        ),
        ([column("job", distinct=300), column("zip", distinct=90)], ["job", "zip"], []),
        ([column("illness", distinct=41), column("sex", distinct=2)], ["sex"], ["crosstab(illness, sex)"]),
        (
            [column("sex", distinct=2), column("trust", "whole number", 5), column("use", "whole number", 5)],
            ["sex"],
            ["trust ~ use + sex"],
        ),
        (
            [column("age", "whole number", 60), column("ill", "yes/no", 2)],
            ["age"],
            ["age ~ ill", "ill ~ age : logistic"],
        ),
        ([column("a, b", distinct=2), column("c", distinct=3)], [], ["`a, b` ~ c : logistic"]),
    ],
)
def test_examples_are_made_of_names_types_and_numbers_of_values(columns, quasi, wanted):
    assert examples(columns, quasi) == wanted


def test_an_example_is_asked_by_a_click_and_the_picture_is_shown(tabs):
    page = tabs.open_release()
    page.click("#tab-questions")
    example = page.inner_text("#example-1")
    page.click("#example-1")
    page.wait_for_selector(f'#answers h3:has-text("{example}")')
    assert page.is_visible("#for-holder")
    assert page.get_attribute("#tab-questions", "aria-selected") == "true"
    assert page.input_value("#questions").splitlines()[-1] == example
    page.locator(".drawn").scroll_into_view_if_needed()
    assert page.evaluate(
        "async () => { const one = document.querySelector('.drawn'); await one.decode(); return one.naturalWidth > 0; }"
    )
