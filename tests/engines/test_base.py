"""An engine is two questions and a method, found by the name in the group of entry points ``shoal.engines``."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

import shoal
from shoal import extensions
from shoal.engines.base import Refusal, engine_for
from shoal.engines.memory import release_in_memory
from shoal.errors import ParameterError
from shoal.io.source import ReadOptions
from tests.engines.tables import people

GIVEN = {"k": 5, "quasi_identifiers": ["age"], "effort": "fast"}


class Moon:
    """An engine of another package."""

    asked: list = []  # noqa: RUF012  (shared on purpose: each call makes an engine)

    def accepts(self, data, request):
        self.asked.append(request.k)
        return data == "moon"

    def refuses(self, request):
        return Refusal("The moon keeps no models.", "leave 'models' out.") if request.models else None

    def release(self, data, request, options):
        assert (data, options.table) == ("moon", "craters")
        return release_in_memory(request, people(60).select(["age"]), ReadOptions())


@pytest.fixture
def moon(monkeypatch):
    entry = EntryPoint("moon", f"{__name__}:Moon", "shoal.engines")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [entry] if group == "shoal.engines" else [])
    Moon.asked.clear()


@pytest.mark.usefixtures("moon")
def test_an_engine_of_another_package_is_asked_for_by_its_name(tmp_path):
    assert shoal.anonymize("moon", **GIVEN, engine="moon", table="craters").audit.k >= 5
    recipe = shoal.Anonymizer(**GIVEN, engine="moon")
    recipe.save(tmp_path / "recipe.toml")
    assert shoal.Anonymizer.load(tmp_path / "recipe.toml").engine == "moon"
    with pytest.raises(ParameterError, match="The moon keeps no models"):
        shoal.anonymize("moon", **GIVEN, sensitive=["illness"], models=[shoal.LDiversity(2)], engine="moon")
    with pytest.raises(ParameterError, match=r"'auto', 'memory', 'stream', 'spark' or 'moon'|auto.*moon"):
        shoal.Anonymizer(**GIVEN, engine="sun")


@pytest.mark.usefixtures("moon")
def test_auto_asks_engines_in_order_and_takes_the_first_that_accepts_and_refuses_nothing(tmp_path, monkeypatch):
    request = shoal.Anonymizer(**GIVEN).request
    assert type(engine_for(people(9), request)).__name__ == "MemoryEngine"
    assert Moon.asked == []
    large = tmp_path / "large.csv"
    large.write_text("age\n" + "1\n" * 999, "utf-8")
    monkeypatch.setattr("shoal.engines.sizes.free_memory", lambda: 100)
    assert type(engine_for(large, request)).__name__ == "StreamEngine"
    typical = shoal.Anonymizer(**GIVEN, release="representatives", method="mdav").request
    assert type(engine_for(large, typical)).__name__ == "MemoryEngine"  # nobody else does it
    assert Moon.asked == [5]
