# SPDX-License-Identifier: MIT
"""Packages what CMake builds: the extension module, the command and the Python files.

`pip install --no-build-isolation .` works without a network where Debian's setuptools, wheel and cffi are installed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'define SNW_VERSION +"(.*)"', (ROOT / "include/sinew/version.h").read_text()).group(1)


class Build(build_py):
    def run(self):
        folder = ROOT / "build" / "release"
        subprocess.run(["cmake", "--preset", "release", "--log-level=WARNING", f"-DSNW_PYTHON={sys.executable}"],
                       cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        subprocess.run(["cmake", "--build", "--preset", "release", "--target", "python_package", "command",
                        "--parallel", str(os.cpu_count() or 1)], cwd=ROOT, check=True)  # fmt: skip
        target = pathlib.Path(self.build_lib) / "sinew"
        shutil.rmtree(target, ignore_errors=True)  # no module of an earlier build stays in the wheel
        shutil.copytree(folder / "python" / "sinew", target, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
        (target / "bin").mkdir(exist_ok=True)
        shutil.copy2(folder / "sinew", target / "bin" / "sinew")
        for binary in (target / "bin" / "sinew", target / "_sinew.abi3.so"):
            subprocess.run(["strip", "--strip-unneeded", str(binary)], check=False)


class Wheel(bdist_wheel):
    """One wheel for Python 3.9 and later: the extension uses the limited ABI."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "cp39", "abi3", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=VERSION, packages=["sinew"], package_dir={"": "python"}, distclass=Binary,
      cmdclass={"build_py": Build, "bdist_wheel": Wheel})  # fmt: skip
