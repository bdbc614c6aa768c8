"""The user's tables: taken in as Arrow, handed back as the kind that came.

``frame`` is a table inside shoal; ``user_table`` is the user's own table, from which kept columns are taken by row;
``canonical`` gives every value one form; ``compact`` rebuilds columns so that nothing else travels in their memory.
Everything that takes or returns a table calls this package. It does not know roles, hierarchies or releases.
"""

from shoal.frames.canonical import encode_dictionary
from shoal.frames.frame import Frame, FrameKind, Layout, check_names, is_nested, refuse_nested, require, to_frame

__all__ = [
    "Frame",
    "FrameKind",
    "Layout",
    "check_names",
    "encode_dictionary",
    "is_nested",
    "refuse_nested",
    "require",
    "to_frame",
]
