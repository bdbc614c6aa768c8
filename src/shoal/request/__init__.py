"""The parameters of a release as checked objects, without any row of the table.

``Request.of(...)`` checks them once; ``Anonymizer`` is its skin for users, a ``Recipe`` the form of it that files and reports hold. Called by the
API, the command line and the engines, which change it with ``dataclasses.replace``. It knows methods, models and treatments,
and not how a release is made.
"""

from shoal.request.bars import Bar
from shoal.request.checks import EngineChoice, parse_memory
from shoal.request.others import with_others_decided
from shoal.request.people import warn_of_repeated_people
from shoal.request.request import Request
from shoal.request.roles import (
    check_role_columns,
    select_roles,
    tell_of_coded_categories,
    warn_of_columns_left_out,
)
from shoal.request.saved import recipe_parameters, stage_recipe

__all__ = [
    "Bar",
    "EngineChoice",
    "Request",
    "check_role_columns",
    "parse_memory",
    "recipe_parameters",
    "select_roles",
    "stage_recipe",
    "tell_of_coded_categories",
    "warn_of_columns_left_out",
    "warn_of_repeated_people",
    "with_others_decided",
]
