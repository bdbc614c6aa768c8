"""JSON Schemas, compared by what they mean: versions of pydantic write the same in different words."""

from __future__ import annotations


def same_meaning(schema):
    """Return a schema without what says nothing: the type of a constant, and that further keys are allowed."""
    if isinstance(schema, list):
        return [same_meaning(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: same_meaning(one) for key, one in schema.items()}
    if "const" in plain:
        plain.pop("type", None)
        plain.pop("enum", None)
    if plain.get("additionalProperties") is True:
        del plain["additionalProperties"]
    return plain
