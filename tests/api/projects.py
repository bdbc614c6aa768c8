"""Small projects as ARX saves them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

DEFINITION = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!-- ARX XML Vocabulary Version 2.0 -->
<definition>
 <assigment><name>name</name><type>IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype></assigment>
 <assigment><name>zip</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype><ref>hierarchies/zip.csv</ref><min>All</min><max>All</max></assigment>
 <assigment><name>sex</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype><ref>hierarchies/sex.csv</ref><min>0</min><max>All</max></assigment>
 <assigment><name>born</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>Date/Time</datatype><format>dd.MM.yyyy</format></assigment>
 <assigment><name>ill</name><type>SENSITIVE_ATTRIBUTE</type><datatype>String</datatype></assigment>
 <assigment><name>cost</name><type>INSENSITIVE_ATTRIBUTE</type><datatype>Decimal</datatype></assigment>
</definition>"""
CONFIG = """<?xml version="1.0" encoding="UTF-8"?>
<config>
 <relativeMaxOutliers>0.05</relativeMaxOutliers>
 <metric>Loss</metric>
 <attributeWeights>
  <attributeWeight><attribute>zip</attribute><weight>0.75</weight></attributeWeight>
  <attributeWeight><attribute>sex</attribute><weight>0.5</weight></attributeWeight>
 </attributeWeights>
 <criteria>{criteria}</criteria>
</config>"""
PROJECT = "<project><separator>{}</separator></project>"
CRITERIA = ("4-anonymity", "distinct-2-diversity for attribute 'ill'")
PERSON = "Zebulon"


def write_project(
    path: Path,
    criteria: Iterable[str] = CRITERIA,
    separator: str = ";",
    parts: Mapping[str, str | None] | Iterable[tuple[str, str | None]] = (),
) -> Path:
    """Write a project; ``parts`` replace parts of it, None leaves one out."""
    table = "\n".join(separator.join(row) for row in (("name", "zip"), (PERSON, "40213")))
    told = "".join(f"<criterion>{one}</criterion>" for one in criteria)
    content = {
        "metadata.xml": "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>",
        "project.xml": PROJECT.format(separator),
        "input/definition.xml": DEFINITION,
        "input/config.xml": CONFIG.format(criteria=told),
        "input/hierarchies/zip.csv": f"40213{separator}402**{separator}*\n40217{separator}402**{separator}*\n51107{separator}511**{separator}*\n",
        "input/hierarchies/sex.csv": f"f{separator}*\nm{separator}*\n",
        "data/input.csv": table,
        "project.dat": "java",
    } | dict(parts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in content.items():
            if text is not None:
                file.writestr(name, text)
    return path
