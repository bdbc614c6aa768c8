"""What scikit-learn needs of an estimator: parameters by name that can be read, changed and shown."""

from __future__ import annotations

import inspect
from typing import Any, Self

from shoal.notebook import card, facts, safely
from shoal.validation import check_keywords


class Estimator:
    """An object that is made from parameters by name, and keeps them in ``_given`` as they came."""

    _given: dict[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return every parameter as it was given, by name; ``deep`` changes nothing."""
        return dict(self._given)

    def set_params(self, **changes: Any) -> Self:
        """Change parameters in place; all are checked again, and an earlier result is forgotten."""
        kind = type(self)
        check_keywords(kind.__name__, changes, kind.__init__)
        changed = kind(**self._given | changes)
        vars(self).clear()
        vars(self).update(vars(changed))
        return self

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self._given)

    def __sklearn_tags__(self) -> Any:
        """Return to scikit-learn, the only caller, what kind of step of a pipeline this is."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags  # noqa: PLC0415  (loaded by who calls)

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
        )

    def _changed(self) -> dict[str, str]:
        """Return the parameters that differ from their defaults, in words."""
        parameters = inspect.signature(type(self)).parameters
        return {
            name: one if isinstance(one, str) else repr(one)
            for name, one in self._given.items()
            if _differs(one, parameters[name].default)
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in self._changed().items())})"

    @safely
    def _repr_html_(self) -> str:
        state = "fitted; the release is in result_" if hasattr(self, "result_") else "not fitted yet: call fit(table)"
        return card(f"shoal.{type(self).__name__}, {state}", facts(self._changed()))


def _differs(value: Any, default: Any) -> bool:
    return type(value) is not type(default) or value != default
