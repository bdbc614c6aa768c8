"""What the pattern recognizers of Presidio find in cells: cells on standard input, findings on standard output, both as JSON.

Runs in an environment that has ``presidio-analyzer``, where shoal is not installed. All recognizers by patterns are asked, also those that Presidio leaves out unless told otherwise; those that need a model of a language are not.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version


def main() -> None:
    """Print the version, the CPU seconds, and for each cell its findings: entity, whether it is the whole cell, score."""
    from presidio_analyzer import PatternRecognizer, predefined_recognizers

    classes = [one for one in vars(predefined_recognizers).values() if isinstance(one, type)]
    patterns = (PatternRecognizer, predefined_recognizers.PhoneRecognizer)
    used = [one() for one in classes if issubclass(one, patterns) and one is not PatternRecognizer]
    cells = json.load(sys.stdin)
    begin = time.process_time()
    found = [
        [
            (hit.entity_type, hit.start == 0 and hit.end == len(cell), hit.score)
            for one in used
            for hit in one.analyze(cell, one.supported_entities, None) or ()
        ]
        for cell in cells
    ]
    seconds = time.process_time() - begin
    print(json.dumps({"version": version("presidio-analyzer"), "CPU s": seconds, "found": found}))


if __name__ == "__main__":
    main()
