"""Formulas: a design matrix whose regressors are averaged over what each cell allows.

The values of a cell are taken as alike, or by counts that were released next to it, and the columns of a record as independent inside it, so that the mean of a product over several
columns is the product of means. This is regression calibration (Carroll, Ruppert, Stefanski and Crainiceanu 2006, *Measurement Error in
Nonlinear Models*, chapter 4) with the cell as the measurement.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from shoal_reader.columns import Column, Floats
from shoal_reader.errors import ReleaseError

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "log": np.log, "log1p": np.log1p, "log10": np.log10, "sqrt": np.sqrt, "exp": np.exp, "abs": np.abs,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide, ast.Pow: np.power,
}  # fmt: skip
_NAME = re.compile(r"`([^`]+)`|Q\(\s*(?:'([^']*)'|\"([^\"]*)\")\s*\)")
_FINE = 33
"""A range of numbers that are not whole is averaged over so many values."""


class Design(NamedTuple):
    """The outcome and the regressors of a model, for all records without a missing value in them."""

    outcome: pd.Series[Any]
    regressors: pd.DataFrame


class Factor(NamedTuple):
    """One column in a term, and how it enters."""

    column: str
    text: str
    tree: ast.expr
    categorical: bool = False


Term = tuple[Factor, ...]


class Formula(NamedTuple):
    """A formula, read."""

    outcome: Factor
    terms: tuple[Term, ...]
    intercept: bool


def read_formula(formula: str) -> Formula:
    """Read a formula such as ``hours ~ age + C(sex) + age:sex + I(age**2)``."""
    if formula.count("~") != 1:
        raise ReleaseError("A formula has one '~' between the outcome and the terms, such as 'hours ~ age + sex'.")
    names: dict[str, str] = {}
    left, right = (_tree(side, names) for side in formula.split("~"))
    (outcome,) = _only_factor(left, names)
    intercept, terms = _terms(right, names)
    return Formula(outcome, tuple(dict.fromkeys(terms)), intercept)


def names_in(formula: Formula) -> list[str]:
    """Return the columns of a formula."""
    return list(dict.fromkeys([formula.outcome.column, *(one.column for term in formula.terms for one in term)]))


def expected(formula: str, column: Callable[[str], Column]) -> Design:
    """Return outcome and averaged design matrix of a formula."""
    model = read_formula(formula)
    columns = {name: column(name) for name in names_in(model)}
    records = len(columns[model.outcome.column].which)
    outcome = _term((model.outcome,), columns, drop_first=False)
    if outcome.shape[1] != 1:
        outcome = outcome.iloc[:, 1:]  # of two values, the second
    if outcome.shape[1] != 1:
        raise ReleaseError("The outcome of a formula is a number, or has two values. Recode it first.")
    parts = [_term(term, columns, drop_first=model.intercept or place > 0) for place, term in enumerate(model.terms)]
    if model.intercept:
        parts.insert(0, pd.DataFrame({"Intercept": np.ones(records)}))
    design = pd.concat(parts, axis=1) if parts else pd.DataFrame(index=range(records))
    gone = np.zeros(records, np.bool_)
    for one in columns.values():
        gone |= one.missing[one.which]
    return Design(outcome.iloc[:, 0][~gone].rename(model.outcome.text), design[~gone])


# --- one term ----------------------------------------------------------------------------------------------------


def _term(term: Term, columns: dict[str, Column], *, drop_first: bool) -> pd.DataFrame:
    """Return the columns of a term: over the products of its factors, each column of the release averaged by itself."""
    by_column: dict[str, list[Factor]] = {}
    for factor in term:
        by_column.setdefault(factor.column, []).append(factor)
    parts = [_averaged(columns[name], factors, drop_first) for name, factors in by_column.items()]
    return reduce(_products, parts)


def _averaged(column: Column, factors: list[Factor], drop_first: bool) -> pd.DataFrame:
    if column.measured and not any(factor.categorical for factor in factors):
        values, weights = _numbers(column)
        product = np.ones(values.shape)
        with np.errstate(all="ignore"):
            for factor in factors:
                product = product * _evaluate(factor.tree, values)
        bad = ((weights > 0) & ~np.isfinite(product)).any(axis=1) & ~column.missing
        if bad.any():
            raise ReleaseError(
                f"{factors[0].text!r} is not a number for every value that a cell allows. Change the formula."
            )
        means = (np.where(weights > 0, product, 0.0) * weights).sum(axis=1)
        return pd.DataFrame({":".join(factor.text for factor in factors): means[column.which]})
    values_ = _categories(column)
    first, shares = int(drop_first), column.shares
    names = [f"{factors[0].text}[T.{value}]" if first else f"{factors[0].text}[{value}]" for value in values_]
    return pd.DataFrame(shares[:, first:][column.which], columns=names[first:])


def _categories(column: Column) -> list[Any]:
    if not column.measured:
        return list(column.values)
    points, _, whole = column.points
    if not whole and not column.exact.all():
        raise ReleaseError(f"The column {column.name!r} has too wide ranges to be a category. Use it as a number.")
    return list(column.numbers(points))


def _numbers(column: Column) -> tuple[Floats, Floats]:
    """Return values inside each cell and their weights."""
    points, inside, whole = column.points
    if whole or column.counted is not None or column.told.counts:
        return np.broadcast_to(points, inside.shape), column.shares
    steps = (np.arange(_FINE) + 0.5) / _FINE
    low = column.low.astype(np.float64)[:, None]
    values = low + (column.high.astype(np.float64)[:, None] - low) * steps
    return values, np.full(values.shape, 1 / _FINE)


def _products(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({f"{one}:{two}": left[one] * right[two] for one in left for two in right})


def _evaluate(tree: ast.expr, values: Floats) -> Any:
    if isinstance(tree, ast.Name):
        return values
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float):
        return tree.value
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_evaluate(tree.operand, values)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        return _OPERATORS[type(tree.op)](_evaluate(tree.left, values), _evaluate(tree.right, values))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and len(tree.args) == 1:
        if tree.func.id == "I":
            return _evaluate(tree.args[0], values)
        if tree.func.id in _FUNCTIONS:
            return _FUNCTIONS[tree.func.id](_evaluate(tree.args[0], values))
    raise _unreadable()


# --- reading -----------------------------------------------------------------------------------------------------


def _tree(side: str, names: dict[str, str]) -> ast.expr:
    def placeholder(match: re.Match[str]) -> str:
        name = next(part for part in match.groups() if part is not None)
        return names.setdefault(name, f"_column_{len(names)}_")

    text = _NAME.sub(placeholder, side).replace(":", "@").strip()
    try:
        return ast.parse(text or "1", mode="eval").body
    except SyntaxError:
        raise _unreadable() from None


def _terms(tree: ast.expr, names: dict[str, str]) -> tuple[bool, list[Term]]:
    """Return whether there is an intercept, and the terms of a sum."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub):
        intercept, terms = _terms(tree.left, names)
        if isinstance(tree.right, ast.Constant):
            if tree.right.value not in {0, 1}:
                raise _unreadable()
            return isinstance(tree.op, ast.Add) == (tree.right.value == 1), terms
        if isinstance(tree.op, ast.Sub):
            raise _unreadable()
        return intercept, terms + _terms(tree.right, names)[1]
    if isinstance(tree, ast.Constant):
        return tree.value == 1, []
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub) and isinstance(tree.operand, ast.Constant):
        return False, []
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult | ast.MatMult):
        left, right = _terms(tree.left, names)[1], _terms(tree.right, names)[1]
        both = [one + two for one in left for two in right]
        return True, [*left, *right, *both] if isinstance(tree.op, ast.Mult) else both
    return True, [_only_factor(tree, names)]


def _only_factor(tree: ast.expr, names: dict[str, str]) -> Term:
    functions = {*_FUNCTIONS, "I", "C"}
    used = list(
        dict.fromkeys(one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id not in functions)
    )
    if len(used) != 1:
        raise ReleaseError("Each factor of a formula uses one column. Write products of columns as a:b, sums as a + b.")
    back = {placeholder: name for name, placeholder in names.items()}
    text = ast.unparse(tree)
    for placeholder, name in back.items():
        text = text.replace(placeholder, name)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "C":
        return (Factor(back.get(used[0], used[0]), text, tree, categorical=True),)
    return (Factor(back.get(used[0], used[0]), text, tree),)


def _unreadable() -> ReleaseError:
    known = ", ".join(_FUNCTIONS)
    return ReleaseError(
        "The formula cannot be read. Terms are columns, a:b, a*b, C(a), I(a**2) or one of these functions: "
        f"{known}; put names with other signs into backticks."
    )
