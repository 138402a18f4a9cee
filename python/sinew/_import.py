# SPDX-License-Identifier: MIT
"""Robots of other formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ._core import c_text, file_name, file_path, new_error, raise_error, text
from ._model import Model
from ._robot import Robot
from ._sinew import ffi, lib
from ._types import Overrides, Path


class ImportNote(NamedTuple):
    """What is not as in the file of another format, and why."""

    line: int
    text: str


class Imported(NamedTuple):
    """A robot of another format as the text of a model."""

    text: str
    notes: list[ImportNote]


def import_text(path: Path, *, free: bool = False, shapes: str = "both",
                packages: Mapping[str, Path] | None = None) -> Imported:  # fmt: skip
    """The robot of a URDF, MJCF or SDF file as the text of a model, to be edited, and what is not as in the file.

    `free`: the root of a URDF file moves freely, otherwise it is fixed. `shapes`: "both", "collision", "visual" or "none". `packages`:
    folders of packages {name: folder}, where meshes are named package://name/..
    """
    how, out, err = ffi.new("snw_import_options *"), ffi.new("snw_imported **"), new_error()
    kept = [ffi.new("char[]", f"{name}={file_name(folder)}".encode()) for name, folder in (packages or {}).items()]
    names, which = ffi.new("char *[]", kept or [ffi.NULL]), ffi.new("char[]", c_text(shapes, "shapes"))
    how.free, how.shapes, how.npackages, how.packages = int(free), which, len(kept), names
    if lib.snw_imported_open(file_path(path), how, out, err) != lib.SNW_OK:
        raise_error(err)
    imported = ffi.gc(out[0], lib.snw_imported_close)
    line, notes = ffi.new("int *"), []
    for i in range(lib.snw_imported_notes(imported)):
        note = text(lib.snw_imported_note(imported, i, line))
        notes.append(ImportNote(line[0], note))
    return Imported(text(lib.snw_imported_text(imported)), notes)


def from_urdf(path: Path, *, free: bool = False, shapes: str = "both", packages: Mapping[str, Path] | None = None,
              set: Overrides | None = None) -> Robot:  # fmt: skip
    """The robot of a URDF file; MJCF and SDF files are read as well, the element at the root tells which it is.

    `free`, `shapes`, `packages`: see `import_text`, which also tells what is not as in the file. `set`: see `Model`.

    >>> arm = sinew.from_urdf("arm.urdf")
    >>> arm.mass()
    """
    imported = import_text(path, free=free, shapes=shapes, packages=packages)
    return Robot(Model(text=imported.text, set=set, name=file_name(path)))


from_mjcf = from_urdf
from_sdf = from_urdf
