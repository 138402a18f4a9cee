# The extension module: CFFI's names, made from the public headers.
from typing import Any

ffi: Any
lib: Any
