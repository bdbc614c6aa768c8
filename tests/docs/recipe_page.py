"""Writes ``docs/reference/recipe.md``: every key of a recipe file, from the schema. ``python -m tests.docs.recipe_page``."""

from __future__ import annotations

import json
from pathlib import Path

from shoal.recipe import json_schema

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "recipe.md"
HEAD = """# The recipe file

A recipe holds every parameter of a release and no row of the table. It is a TOML file. `--save-recipe recipe.toml` and `Anonymizer.save` write one;
`shoal anonymize patients.csv --recipe recipe.toml` and `Anonymizer.load` read it. A key that is not in this list is refused.
Editors that know JSON Schema can check a recipe against [recipe.schema.json](recipe.schema.json).

```toml
k = 10
quasi_identifiers = ["birth_date", "sex", "zip", "job"]
sensitive = ["diagnosis"]
identifiers = ["name", "admission_date"]
keep = ["cost"]

[hierarchies]
zip = "zip.csv"

[[models]]
model = "l-diversity"
l = 3
```

An option next to a recipe replaces that key. If the key is a table, such as `hierarchies` or `weights`, the option replaces the column it names and nothing else.
Paths are relative to the folder of the recipe.

| key | meaning | default |
|---|---|---|
"""


def text() -> str:
    """Return the page."""
    rows = []
    for name, key in json_schema()["properties"].items():
        default = "must be given" if "default" not in key else f"`{json.dumps(key['default'])}`"
        described = key.get("description", "").replace("|", "\\|").replace("*", "\\*")
        rows.append(f"| `{name}` | {described} | {'none' if default == '`null`' else default} |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
