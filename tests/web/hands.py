"""The page used without a browser, as its own requests do."""

from __future__ import annotations

import contextlib
import json
import re

import httpx

STEPS = ("open", "columns", "hierarchies", "protect", "compare", "look", "publish", "recipe")


class Hands:
    """Uses the page without a browser, as its own requests do."""

    def __init__(self, client, address):
        self.client = client
        page = client.get(address)
        self.home = re.findall(r"/\d+/", page.url.path)[0]
        self.client.headers["x-shoal-change"] = re.findall(r'name="change-key" content="([^"]+)"', page.text)[0]

    def edition(self):
        """Return what a page that was just shown would send with a change."""
        return re.findall(r'data-edition="(\d+)"', self.client.get(f"{self.home}recipe").text)[0]

    def post(self, path, edition=None, **body):
        """Return what came of a request: the sentence it was refused with, or how its job ended."""
        headers = {"x-shoal-edition": self.edition() if edition is None else edition}
        told = self.client.post(self.home + path, json=body, headers=headers).json()
        if "refused" in told:
            return f"{told['refused']['message']} {told['refused']['hint']}"
        came = self.wait(told["job"]) if told["job"] else "done"
        if came == "done" and (told["go"] or "").startswith("/"):
            self.home = re.findall(r"/\d+/", told["go"])[0]
        return came

    def wait(self, number):
        with self.client.stream("GET", f"{self.home}events") as events:
            for line in events.iter_lines():
                told = json.loads(line[6:]) if line.startswith("data: ") else None
                for job in told if isinstance(told, list) else [told]:
                    if isinstance(job, dict) and job.get("number") == number and job["state"] in {"done", "failed"}:
                        return "done" if job["state"] == "done" else f"{job['message']} {job['hint']}"
        raise AssertionError("the stream has ended")

    def statuses(self):
        """Return how each step answers."""
        return [self.client.get(self.home + step).status_code for step in STEPS]

    def show(self, step):
        """Return the page of a step."""
        return self.client.get(self.home + step).text

    def open(self, name):
        return self.post("open", place="folder", name=name)

    def make(self, k):
        told = [self.post("protect/k", k=k)]
        told.append(self.post("protect/search", method="mondrian", effort="fast", max_suppression=0, ends="round"))
        return self.post("protect/make") if told == ["done", "done"] else told[0]


@contextlib.contextmanager
def using(address):
    with httpx.Client(base_url=address.split("/?")[0], follow_redirects=True, timeout=600) as client:
        yield Hands(client, address)
