"""``python -m shoal.compiling.warm_up.listing PART…``: list the kernels that small jobs call, on standard output.

To be run with ``NUMBA_DISABLE_JIT=1``, in a process of its own: the watch must be active before any kernel is imported.
"""

from __future__ import annotations

import pickle
import sys
import warnings

from shoal.compiling import signatures


def main(parts: list[str]) -> None:
    """Run the jobs of the parts and write the calls they made."""
    watch = signatures.current = signatures.SignatureRecorder()
    from shoal.compiling.warm_up.jobs import PARTS  # noqa: PLC0415  (imports kernels, under the watch)

    warnings.simplefilter("ignore")  # these releases are made to be thrown away
    for part in parts:
        for job in PARTS[part]():
            job()
    sys.stdout.buffer.write(pickle.dumps(watch.heaviest_first()))


if __name__ == "__main__":
    main(sys.argv[1:])
