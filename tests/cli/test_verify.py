"""``shoal verify``: check a released file against its promises."""

from __future__ import annotations


def write(shoal, patients, roles, *more):
    target = patients.with_name("release.csv")
    run = shoal("anonymize", patients, "-k", 5, *roles, "--method", "mondrian", "-o", target, *more)
    assert run.code == 0, run.err
    return target


def test_a_release_is_read_from_disk_and_judged(shoal, patients, roles):
    target = write(shoal, patients, roles, "--model", "l-diversity:l=2")
    run = shoal("verify", target, "--original", patients)
    assert run.code == 0, run.err
    told = " ".join(run.out.split())
    assert all(
        name in told for name in ("columns yes", "k yes", "l-diversity yes", "dictionary yes", "rows yes", "cover yes")
    )
    assert "the smallest group has" in told


def test_what_falls_short_is_exit_code_1(shoal, patients, roles):
    target = write(shoal, patients, roles)
    text = target.read_text("utf-8")
    target.write_text(text.rstrip("\n").rpartition("\n")[0] + "\n", "utf-8")  # the last row is gone
    run = shoal("verify", target, "--json")
    assert (run.code, run.json["met"]) == (1, False)
    assert {one["name"]: one["met"] for one in run.json["checks"]}["dictionary"] is False
    assert "dictionary NO " in " ".join(shoal("verify", target).out.split())


def test_the_recipe_stands_in_for_a_dictionary(shoal, patients, roles, tmp_path):
    target = write(shoal, patients, roles, "--no-dictionary", "--save-recipe", tmp_path / "recipe.toml")
    run = shoal("verify", target)
    assert (run.code, "has no dictionary that says what it promises" in run.sentences) == (2, True)
    assert shoal("verify", target, "--recipe", tmp_path / "recipe.toml").code == 0
