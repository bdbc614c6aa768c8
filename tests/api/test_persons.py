"""People, not records: k, l, t and the rest by an independent count, for every method."""

from __future__ import annotations

import math
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import ColumnError, DataError, ParameterError, PrivacyError, PrivacyWarning, RepeatedPersonWarning
from shoal.frames import to_frame
from shoal.results.generalization import Generalization
from shoal.results.transform import transform_file
from tests.support.panels import QUASI, fewest_companions, owners_by_group, panel, released_groups

pytestmark = pytest.mark.compiled

K = 4
TABLE = panel()
HIERARCHIES = {
    "age": shoal.Hierarchy.from_intervals(TABLE["age"].to_pylist(), [10, 30]),
    "wave": shoal.Hierarchy.from_intervals(TABLE["wave"].to_pylist(), [3]),
    "sex": "flat",
    "region": "flat",
}
GLOBAL = [info.name for info in shoal.methods() if info.family == "global"]
LOCAL = [info.name for info in shoal.methods() if info.family != "global"]


def release(method="mondrian", table=TABLE, **changes):
    parameters = {
        "k": K, "quasi_identifiers": QUASI, "sensitive": ["ill"], "identifiers": ["hh", "w"], "person": "nr",
        "method": method, "effort": "fast", "release": "ranges",
    }  # fmt: skip
    if method in GLOBAL:
        parameters |= {"hierarchies": HIERARCHIES, "max_suppression": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedPersonWarning)
        return shoal.anonymize(table, **parameters | changes)


@pytest.mark.parametrize("method", [*LOCAL, *GLOBAL])
def test_every_combination_belongs_to_k_people_whatever_the_method(method):
    result = release(method)
    assert min(map(len, owners_by_group(result, TABLE, "nr").values())) >= K
    assert result.audit.k == min(map(len, owners_by_group(result, TABLE, "nr").values()))
    assert result.audit.persons == len(set(TABLE["nr"].to_pylist()))
    assert "nr" not in result.data.column_names


def test_without_the_person_column_groups_hold_fewer_people():
    plain = release(person=None, identifiers=["nr", "hh", "w"])
    assert min(map(len, owners_by_group(plain, TABLE, "nr").values())) < K


def bearers(result, table=TABLE):
    """Return for each released combination its people, and how many of them bear each sensitive value."""
    person, ill = table["nr"].to_pylist(), table["ill"].to_pylist()
    for rows in released_groups(result).values():
        pairs = {(person[row], ill[row]) for row in rows}
        yield {person[row] for row in rows}, Counter(value for _, value in pairs)


def overall(table=TABLE):
    return Counter(value for _, value in set(zip(table["nr"].to_pylist(), table["ill"].to_pylist(), strict=True)))


def entropy_l(counts):
    total = sum(counts.values())
    return math.exp(-sum(count / total * math.log(count / total) for count in counts.values()))


def distance(counts, whole):
    size, total = sum(counts.values()), sum(whole.values())
    return sum(abs(counts[value] / size - count / total) for value, count in whole.items()) / 2


@pytest.mark.parametrize("method", ["optimize", "mondrian", "bottom-up", "mdav", "datafly"])
def test_models_count_a_value_once_for_each_person_who_bears_it(method):
    models = [
        shoal.LDiversity(2),
        shoal.LDiversity(1.8, "entropy"),
        shoal.TCloseness(0.5, "equal"),
        shoal.AlphaK(0.8),
        shoal.BetaLikeness(3.0),
    ]
    result = release(method, models=models, max_suppression=0.3 if method == "datafly" else 0.0)
    whole, people = overall(), len(set(TABLE["nr"].to_pylist()))
    found = list(bearers(result))
    assert min(len(counts) for _, counts in found) == result.audit.l >= 2
    assert min(entropy_l(counts) for _, counts in found) == pytest.approx(result.audit.sensitive["ill"]["entropy_l"])
    assert max(distance(counts, whole) for _, counts in found) == pytest.approx(result.audit.t)
    assert result.audit.t <= 0.5
    alpha = max(max(counts.values()) / len(group) for group, counts in found)
    assert alpha == pytest.approx(result.audit.alpha)
    assert alpha <= 0.8
    beta = max(counts[value] / len(group) * people / whole[value] - 1 for group, counts in found for value in counts)
    assert beta == pytest.approx(result.audit.beta)
    assert beta <= 3.0


def test_a_person_counts_once_in_the_search_as_in_the_measure():
    """Every value is borne by everybody, so no share of it may be small."""
    table = pa.table({"nr": [1, 1, 2, 2, 3, 3], "age": [30, 30, 31, 31, 32, 32], "ill": ["a", "b"] * 3})
    with pytest.raises(PrivacyError, match="AlphaK cannot hold"):
        shoal.anonymize(
            table, k=2, quasi_identifiers=["age"], sensitive=["ill"], person="nr", models=[shoal.AlphaK(0.6)]
        )


@pytest.mark.parametrize("method", LOCAL)
def test_together_leaves_k_people_to_whoever_knows_all_records_of_a_person(method):
    result = release(method, together=True)
    assert fewest_companions(result, TABLE, "nr") >= K


def test_apart_a_person_can_be_found_by_several_records():
    assert fewest_companions(release("optimize"), TABLE, "nr") < K


@pytest.mark.parametrize("method", ["optimize", "mondrian", "k-member"])
def test_together_holds_with_models(method):
    result = release(method, together=True, models=[shoal.LDiversity(3), shoal.AlphaK(0.8)])
    assert fewest_companions(result, TABLE, "nr") >= K
    assert all(len(counts) >= 3 and max(counts.values()) <= 0.8 * len(group) for group, counts in bearers(result))


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("method", ["optimize", "mondrian", "mdav"])
def test_a_household_hides_among_k_households_with_all_its_members(method, together):
    result = release(method, household="hh", identifiers=["w"], together=together)
    assert min(map(len, owners_by_group(result, TABLE, "hh").values())) >= K
    assert min(map(len, owners_by_group(result, TABLE, "nr").values())) >= K
    assert fewest_companions(result, TABLE, "hh") >= K
    assert not together or fewest_companions(result, TABLE, "nr") >= K
    assert result.audit.households == len(set(TABLE["hh"].to_pylist()))


def test_people_of_one_record_each_change_nothing():
    table = panel(50, most=1)
    plain = release("mondrian", table, person=None, identifiers=["nr", "hh", "w"])
    assert release("mondrian", table).groups.tolist() == plain.groups.tolist()


def test_equal_records_of_a_person_go_together_at_no_loss():
    one = panel(40, most=1)
    many = pa.concat_tables([one, one, one])
    once, thrice = release("mondrian", one), release("mondrian", many)
    assert thrice.metrics["ncp"] == pytest.approx(once.metrics["ncp"])


def test_a_smaller_k_of_the_same_steps_counts_people_too():
    result = release("datafly", k=6).at(k=3)
    assert min(map(len, owners_by_group(result, TABLE, "nr").values())) >= 3


def test_widened_cells_still_belong_to_k_people():
    result = release("optimize", widen=0.5)
    assert min(map(len, owners_by_group(result, TABLE, "nr").values())) >= K


def test_the_recipe_keeps_whose_records_are(tmp_path):
    made = shoal.Anonymizer(
        k=K, quasi_identifiers=QUASI, identifiers=["hh", "w", "ill"], person="nr", together=True, method="mondrian"
    )
    made.save(tmp_path / "recipe.toml")
    loaded = shoal.Anonymizer.load(tmp_path / "recipe.toml")
    assert (loaded.person, loaded.household, loaded.together) == ("nr", None, True)
    assert fewest_companions(loaded.fit(TABLE).result_, TABLE, "nr") >= K


def test_an_audit_counts_people_and_households():
    table = panel(30, most=3)
    names = ["sex", "region"]
    groups: dict[tuple[str, ...], set[int]] = {}
    for row in table.to_pylist():
        groups.setdefault(tuple(row[name] for name in names), set()).add(row["nr"])
    found = shoal.audit(table, quasi_identifiers=names, sensitive=["ill"], person="nr")
    assert (found.k, found.groups) == (min(map(len, groups.values())), len(groups))
    assert found.records == table.num_rows
    assert sum(size * count for size, count in found.sizes.items()) == sum(map(len, groups.values()))
    assert found.risk.prosecutor_highest == 1 / found.k
    assert shoal.audit(table, quasi_identifiers=names, person="nr", household="hh").k <= found.k


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"person": "nrr"}, ColumnError, "nrr"),
        ({"person": "age"}, ColumnError, "is the person and one of quasi_identifiers too"),
        ({"person": "ill"}, ColumnError, "is the person and one of sensitive too"),
        ({"person": 3}, ParameterError, "must be the name of a column"),
        ({"household": "nr"}, ColumnError, "both the person and the household"),
        ({"person": None, "together": True}, ParameterError, "Got no 'person'"),
        ({"together": 1}, ParameterError, "must be True or False"),
        ({"k": 61}, PrivacyError, "holds 60 persons in"),
        ({"method": "datafly", "together": True, "hierarchies": HIERARCHIES}, ParameterError, "'together' parameter"),
        ({"method": "datafly", "household": "hh", "hierarchies": HIERARCHIES}, ParameterError, "'household' parameter"),
    ],
)
def test_bad_input_is_told_in_one_sentence(changes, kind, text):
    with pytest.raises(kind, match=text):
        release(**changes)


def test_records_of_nobody_are_refused():
    person = [None if row % 50 == 0 else value for row, value in enumerate(TABLE["nr"].to_pylist())]
    table = TABLE.set_column(0, "nr", pa.array(person))
    with pytest.raises(DataError, match="The person column 'nr' is empty in"):
        release(table=table)


def test_a_key_that_repeats_is_told_loudly():
    table = TABLE.rename_columns(["patient_id", *TABLE.column_names[1:]])
    arguments = {"k": K, "quasi_identifiers": QUASI, "keep": ["ill", "w"], "method": "mondrian"}
    with pytest.warns(RepeatedPersonWarning, match="'patient_id' seems to name 60 people"):
        shoal.anonymize(table, identifiers=["patient_id", "hh"], **arguments)
    shoal.anonymize(table, identifiers=["hh"], person="patient_id", **arguments)


def test_groups_found_layer_by_layer_never_hold_a_person_twice_in_a_layer():
    from shoal.encoding import encode, with_units
    from shoal.enforcement.people import deal_layers
    from shoal.frames import to_frame

    frame = to_frame(TABLE)
    table = with_units(encode(frame, QUASI), frame, {"person": "nr"})
    person = table.units["person"]
    layers = deal_layers(table, person)
    pairs = list(zip(person[layers.record].tolist(), layers.layer.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    assert np.array_equal(person[layers.record[layers.distinct]], person)
    assert (layers.layer[layers.before] == np.maximum(layers.layer - 1, 0)).all()


# --- survey weights --------------------------------------------------------------------------------------------------


def survey(**changes):
    return release(**{"person": None, "identifiers": ["nr", "hh"], "survey_weight": "w"} | changes)


def test_survey_weights_are_released_as_the_mean_of_each_group_and_keep_their_sum():
    result = survey()
    weight, released = TABLE["w"].to_pylist(), result.data["w"].to_pylist()
    for rows in released_groups(result).values():
        assert sum(released[row] for row in rows) == pytest.approx(sum(weight[row] for row in rows))
        assert len({round(released[row], 9) for row in rows}) <= len(set(result.groups[rows].tolist()))
    assert result.audit.represented == pytest.approx(sum(weight))


def test_survey_weights_are_kept_or_removed_where_a_role_says_so():
    assert survey(keep=["w"]).data["w"].to_pylist() == TABLE["w"].to_pylist()
    assert "w" not in survey(identifiers=["nr", "hh", "w"]).data.column_names


def test_risks_in_the_population_follow_the_sum_of_weights():
    result = survey()
    weight = TABLE["w"].to_pylist()
    sums = [max(round(sum(weight[row] for row in rows)), len(rows)) for rows in released_groups(result).values()]
    assert result.audit.risk.journalist_highest == pytest.approx(1 / min(sums))
    assert result.audit.risk.individual_highest < result.audit.risk.prosecutor_highest
    assert {one.model for one in result.audit.population} == {"pitman", "zayatz"}
    assert survey(keep=["w"]).audit.risk == result.audit.risk


@pytest.mark.parametrize(("size", "share"), [(1, 0.2), (2, 0.3), (1, 0.9), (2, 0.05), (3, 0.1), (6, 0.4)])
def test_the_individual_risk_is_the_mean_of_one_over_the_people_of_a_negative_binomial(size, share):
    from shoal.audit.risk import individual_risk

    exact = sum(
        math.comb(people - 1, size - 1) * share**size * (1 - share) ** (people - size) / people
        for people in range(size, 2000)
    )
    found = float(individual_risk(np.array([size]), np.array([size / share]))[0])
    assert found == pytest.approx(exact, rel=1e-6 if size < 3 else 0.2)


def test_a_table_that_is_its_own_population_has_the_risk_of_its_groups():
    from shoal.audit.risk import individual_risk

    assert individual_risk(np.array([1, 2, 5]), np.array([1.0, 2.0, 5.0])).tolist() == [1.0, 0.5, 0.2]


def test_counting_questions_count_people_of_the_population():
    from shoal.metrics import query_error

    result = survey()
    found = query_error(TABLE, result, ["sex in {f}"])
    wanted = sum(w for w, sex in zip(TABLE["w"].to_pylist(), TABLE["sex"].to_pylist(), strict=True) if sex == "f")
    assert found.truth[0] == pytest.approx(wanted)
    everybody = query_error(TABLE, result, ["sex in {f, m}"])
    assert everybody.estimate[0] == pytest.approx(sum(TABLE["w"].to_pylist()))


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"survey_weight": "age"}, ColumnError, "is the survey weight and one of quasi_identifiers too"),
        ({"survey_weight": "nothing"}, ColumnError, "nothing"),
        ({"survey_weight": 2}, ParameterError, "must be the name of a column"),
        (
            {"survey_weight": "region2", "table": TABLE.append_column("region2", TABLE["region"])},
            DataError,
            "not numbers",
        ),
        (
            {"table": TABLE.set_column(7, "w", pa.array([0.0, *TABLE["w"].to_pylist()[1:]]))},
            DataError,
            "is missing, infinite or not above 0 in 1 of",
        ),
    ],
)
def test_bad_survey_weights_are_told_in_one_sentence(changes, kind, text):
    arguments = {"person": None, "identifiers": ["nr", "hh"], "survey_weight": "w", "keep": []} | changes
    if arguments["survey_weight"] != "w":
        arguments["keep"] = ["w"]
    with pytest.raises(kind, match=text):
        release(**arguments)


# --- report and attacks ----------------------------------------------------------------------------------------------


def test_the_report_counts_people_and_tells_what_several_records_give_away():
    apart, beside = release("mondrian").report(), release("mondrian", together=True).report()
    summary = apart.summary
    assert (summary.reached.persons, summary.found.after.below_k) == (60, 0)
    assert summary.found.after.largest_risk <= 1 / K
    assert "belongs to at least 4 of 60 people" in apart.markdown
    assert any("may be in groups of different people" in sentence for sentence in summary.warnings)
    assert not any("may be in groups" in sentence for sentence in beside.summary.warnings)
    found = {one.attack: one for one in beside.summary.attacks}
    assert found["companions"].share <= 1 / K + 1e-9


def test_the_report_says_loudly_that_people_repeat():
    table = TABLE.rename_columns(["patient_id", *TABLE.column_names[1:]])
    with pytest.warns(RepeatedPersonWarning):
        result = shoal.anonymize(
            table, k=K, quasi_identifiers=QUASI, identifiers=["patient_id", "hh"], keep=["ill", "w"], method="mondrian"
        )
    assert any("seems to name 60 people" in sentence for sentence in result.report().summary.warnings)


def test_whoever_knows_all_records_of_a_person_finds_them_unless_they_are_kept_together():
    from shoal.attacks import companions, run_attacks

    apart, beside = release("mondrian"), release("mondrian", together=True)
    found = companions(TABLE, apart, QUASI, "nr")
    assert found.figures["fewest_candidates"] >= 1
    assert found.figures["fewest_candidates_by_one_record"] >= K
    assert companions(TABLE, beside, QUASI, "nr").figures["fewest_candidates"] >= K
    assert "companions" in {one.attack for one in run_attacks(TABLE, apart, QUASI, person="nr")}


# --- new records recoded like an earlier release -----------------------------------------------------------------


def recoded_by_job(**units):
    jobs = shoal.Hierarchy.from_dict({"*": {"health": ["nurse", "doctor"], "craft": ["baker", "smith"]}})
    table = {
        "job": ["nurse", "doctor", "nurse", "baker", "smith", "smith"] * 3,
        "who": [f"p{row}" for row in range(18)],
        "home": [f"h{row // 2}" for row in range(18)],
    }
    return shoal.anonymize(
        pa.table(table), k=3, quasi_identifiers=["job"], hierarchies={"job": jobs}, method="datafly", identifiers=["who", "home"],
        **units,
    )  # fmt: skip


def test_new_records_are_counted_by_whose_they_are(tmp_path):
    unit, column = "person", "who"
    result = recoded_by_job(**{unit: column})
    one = pa.table({"job": ["nurse"] * 9, column: ["new one"] * 9})
    several = pa.table({"job": ["nurse"] * 9, column: [f"new {row}" for row in range(9)]})
    with pytest.warns(
        PrivacyWarning, match=rf"9 of 9 new records .* fewer than 2 other {unit}s among them, 0 also when"
    ):
        assert result.transform(one).column_names == ["job"]
    assert result.transform(several).num_rows == 9
    with pytest.raises(ColumnError, match=f"'{column}'"):
        result.transform(one.select(["job"]))
    mapping = Generalization.load(result.generalization.save(tmp_path / "mapping.json"))
    assert (tmp_path / "mapping.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(PrivacyError, match=f"9 of 9 new records share their values with fewer than 2 other {unit}s"):
        transform_file(to_frame(one), mapping, tmp_path / "new.csv")
    assert not (tmp_path / "new.csv").exists()
    assert transform_file(to_frame(several), mapping, tmp_path / "new.csv") == 0
    with pytest.raises(ParameterError, match=f"counted by {unit}s, which the earlier release does not identify"):
        transform_file(to_frame(several), mapping, tmp_path / "other.csv", earlier=to_frame(result.released))
