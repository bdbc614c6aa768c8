"""The controls of a page, as its HTML has them: what each shows, what else it offers, and what its form would send."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

ANOTHER = {"k": "7", "weight": "3", "max_suppression": "20", "widen": "10", "seed": "5", "most": "3"}
"""What to put into fields for numbers; elsewhere a whole number gets one more, any other is halved."""


@dataclass
class Control:
    """A field of a form: what it shows and what else can be chosen."""

    name: str
    id: str
    shown: str | None
    others: list[str]


@dataclass
class Form:
    """A form: where it is sent to, its hidden fields and its controls."""

    post: str
    hidden: dict[str, str] = field(default_factory=dict)
    controls: list[Control] = field(default_factory=list)

    def body(self, control: Control, value: str) -> dict[str, str]:
        """Return what the page sends when one control is set."""
        body = self.hidden | {one.name: one.shown for one in self.controls if one.shown is not None}
        return body | {control.name: value}


def button(given: dict[str, str | None]) -> Control:
    """Return a button as a control; one that is pressed shows its value and offers nothing else."""
    value, pressed = given.get("value") or "", given.get("aria-pressed") == "true"
    return Control(str(given["name"]), given.get("id") or "", value if pressed else None, [] if pressed else [value])


class Forms(HTMLParser):
    """Reads the forms of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._form: Form | None = None
        self._select: Control | None = None
        self._option: str | None = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form" and given.get("data-post"):
            self._form = Form(given["data-post"])
            self.found.append(self._form)
        elif self._form is None:
            return
        elif tag == "select":
            self._select = Control(given.get("name", ""), given.get("id", ""), None, [])
            self._form.controls.append(self._select)
        elif tag == "option" and self._select is not None and "hidden" not in given:
            self._option = ""
            self._chosen, self._value = "selected" in given, given.get("value")
        elif tag == "button" and given.get("name"):
            self._form.controls.append(button(given))
        elif tag == "input" and given.get("type") == "hidden":
            self._form.hidden[given["name"]] = given.get("value", "")
        elif tag == "input" and given.get("type") == "checkbox":
            on = given.get("value", "on")
            self._form.controls.append(
                Control(
                    given["name"], given["id"], on if "checked" in given else None, [] if "checked" in given else [on]
                )
            )
        elif tag == "input" and given.get("type") == "number":
            shown = given.get("value", "")
            number = float(shown or 0)
            another = ANOTHER.get(given["name"], f"{number / 2 if number % 1 else number + 1:g}")
            self._form.controls.append(Control(given["name"], given["id"], shown, [another]))

    def handle_data(self, text):
        if self._option is not None:
            self._option += text

    def handle_endtag(self, tag):
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = None
        elif tag == "option" and self._option is not None and self._select is not None:
            value = self._option if self._value is None else self._value
            if self._chosen or (self._select.shown is None and not self._select.others):
                if self._select.shown is not None:
                    self._select.others.append(self._select.shown)
                self._select.shown = value
            else:
                self._select.others.append(value)
            self._option = None


def forms(text: str, *posts: str) -> list[Form]:
    """Return the forms of a page that are sent to certain places."""
    return [one for one in Forms(text).found if one.post in posts]


def shown(text: str, wanted: str) -> str | None:
    """Return what the control with an id shows; None if there is no such control any more."""
    found = [one for form in Forms(text).found for one in form.controls if one.id == wanted]
    return found[0].shown if found else None
