"""A request for a table that need not fit into memory: what is refused, where the rows are, and which notices are given."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engines.base import Refusal, asked
from shoal.engines.sizes import bytes_of, is_too_large
from shoal.engines.stream.order import Order
from shoal.errors import NotationNotice, ParameterError, PublicationWarning, warn
from shoal.io.source import ReadOptions
from shoal.io.targets import files_read
from shoal.io.workroom import Workroom
from shoal.request import Request
from shoal.results.columns import Describing
from shoal.treatments import dropped_columns, treatment_settings
from shoal.treatments.pseudonyms import read_key
from shoal.validation import check_int, check_path

if TYPE_CHECKING:
    from shoal.engines.stream.result import StreamResult

_OWNER = "Anonymizer.stream"
_WORKER = 1 << 29
"""Memory that a worker takes, about."""


class StreamEngine:
    """Releases a file, a folder or a database whose rows stay on disk."""

    def accepts(self, data: Any, request: Request) -> bool:
        """Return whether a table is in a file that does not fit into memory."""
        return isinstance(data, (str, Path)) and is_too_large(data, request.memory)

    def refuses(self, request: Request) -> Refusal | None:
        """Return why a request cannot be honoured."""
        instead = "leave it out, or take engine='memory'."
        if request.release != "ranges":
            return _refusal("a release with representatives", "take release='ranges', or engine='memory'.")
        if request.cells:
            return _refusal(
                "disjoint cells, which need all records at once", "leave 'cells' out, or take engine='memory'."
            )
        if request.counts:
            return _refusal(
                "counts of exact values, which need all records at once", "leave 'counts' out, or take engine='memory'."
            )
        seeing = [type(model).__name__ for model in request.models if model.looks_at == "more"]
        if seeing:
            return _refusal(f"{seeing[0]}, which looks at more than the table", instead)
        if request.on_interrupt == "best":
            return _refusal("on_interrupt='best', because several processes have no best groups so far", instead)
        dropped = dropped_columns(treatment_settings(request.treat)).intersection(request.sensitive)
        if dropped:
            return _refusal(f"the sensitive column {min(dropped)!r} dropped", "leave it out of 'sensitive'.")
        return None

    def release(self, data: Any, request: Request, options: ReadOptions) -> StreamResult:
        """Release a table into a private folder, in which it stays as long as the result is used."""
        if not isinstance(data, (str, Path)):
            raise ParameterError(
                f"With engine='stream' a table is read from a file, a folder or a database. Got {type(data).__name__}.",
                hint="give its path, or take engine='memory'.",
            )
        room = Workroom(Path(tempfile.gettempdir()))
        try:
            target = room.path / "release"
            order = _order(request, data, target, options=options, part="part-{:05}.arrow", reporting=True)
            from shoal.engines.stream.result import in_room  # noqa: PLC0415  (a release in memory needs nothing that streams)

            return in_room(_run(order), room)
        except BaseException:
            room.close()
            raise


def _refusal(what: str, hint: str) -> Refusal:
    return Refusal(f"A table cannot be streamed with {what}.", hint)


def stream_release(
    request: Request,
    data: str | Path,
    target: str | Path,
    *,
    options: ReadOptions | None = None,
    **choices: Any,
) -> StreamResult:
    """Release a table from file to file; see ``Anonymizer.stream``."""
    asked(StreamEngine(), request)
    return _run(_order(request, data, target, options=options or ReadOptions(), **choices))


def _order(
    request: Request,
    data: str | Path,
    target: str | Path,
    *,
    options: ReadOptions,
    memory: int | str | None = None,
    workers: int | None = None,
    scratch: str | Path | None = None,
    force: bool = False,
    dictionary: Describing = True,
    report: str | Path | None = None,
    public_report: str | Path | None = None,
    reporting: bool = False,
    part: str = Order.part,
    inputs: Sequence[Path] = (),
) -> Order:
    """Return all that a streamed release needs to know."""
    size = bytes_of(_OWNER, request.memory if memory is None else memory)
    number = min(os.cpu_count() or 1, max(1, size // (2 * _WORKER))) if workers is None else workers
    return Order(
        request=request,
        place=data,
        target=check_path(_OWNER, "target", target),
        options=replace(options, notation=request.notation),
        key=None if request.key is None else read_key(request.key),
        memory=size,
        workers=check_int(_OWNER, "workers", number, least=1),
        scratch=_path("scratch", scratch),
        force=force,
        dictionary=dictionary,
        report=_path("report", report),
        public_report=_path("public_report", public_report),
        reporting=reporting or report is not None,
        part=part,
        inputs=(*inputs, *files_read(data), *request.inputs),
    )


def _path(parameter: str, given: str | Path | None) -> Path | None:
    return None if given is None else check_path(_OWNER, parameter, given)


def _run(order: Order) -> StreamResult:
    from shoal.engines.stream.engine import stream  # noqa: PLC0415  (a release in memory needs nothing that streams)

    made = stream(order)
    understood = order.request.as_understood()
    told = [f"{name} as {words}" for name, words in made.understood.items() if name in understood]
    if told:
        warn(f"Understood {'; '.join(told)}.", NotationNotice)
    for sentence in made.warnings:
        warn(f"Look at this before you publish: {sentence}", PublicationWarning)
    return made
