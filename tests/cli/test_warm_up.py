from __future__ import annotations

import pytest

from shoal.cli import warm_up


@pytest.fixture
def asked(monkeypatch):
    """The parts that would be compiled."""
    parts = []

    def note(chosen, _progress):
        parts.extend(chosen)
        return type("", (), {"compiled": 3, "found": 4})

    monkeypatch.setattr("shoal.compiling.warm_up.processes.warm_up", note)
    return parts


def test_the_parts_named_are_compiled(asked, shoal):
    done = shoal("warm-up", "mondrian", "fast")
    assert done.code == 0
    assert done.out.strip() == "3 kernels compiled, 4 were there already."
    assert asked == ["mondrian", "fast"]


def test_without_a_name_everything_is_compiled(asked, shoal):
    shoal("warm-up")
    assert asked == list(warm_up.PART_NAMES)


def test_a_part_that_is_not_there_is_refused(asked, shoal):
    done = shoal("warm-up", "mondriann")
    assert done.code == 2
    assert asked == []


@pytest.mark.parametrize(
    ("terminal", "first", "compiled"), [(True, True, ["demo"]), (True, False, []), (False, True, [])]
)
def test_a_first_run_compiles_its_parts_where_someone_sees_the_bar(asked, monkeypatch, terminal, first, compiled):
    monkeypatch.setattr(warm_up, "err", type("", (), {"is_terminal": terminal, "print": lambda *_a, **_k: None}))
    monkeypatch.setattr("shoal.api.compiles_first", lambda: first)
    warm_up.prepare(lambda: ["demo", "a method of another package"])
    assert asked == compiled
