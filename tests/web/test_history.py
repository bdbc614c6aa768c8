"""Undo and redo without end."""

from __future__ import annotations

from shoal.web.history import History, Step


def test_every_step_can_be_taken_back_and_taken_again():
    history = History([Step(0, "the beginning")])
    for number in range(1, 200):
        history.add(number, f"{number}")
    for number in reversed(range(199)):
        history.go(history.place - 1)
        assert history.state == number
    history.go(history.place - 1)
    assert history.state == 0
    history.go(199)
    assert history.state == 199


def test_a_new_step_forgets_what_was_undone():
    history = History([Step("a", "")])
    history.add("b", "")
    history.add("c", "")
    history.go(1)
    history.add("d", "")
    assert [step.state for step in history.steps] == ["a", "b", "d"]


def test_an_equal_state_is_no_step_and_every_change_has_a_new_version():
    history = History([Step("a", "")])
    history.add("a", "")
    assert (len(history.steps), history.version) == (1, 0)
    history.add("b", "")
    history.go(0)
    assert history.version == 2
