# SPDX-License-Identifier: MIT
"""Out of memory at any moment: a message and status 1, never a crash, and no incomplete file."""
import os
import pathlib
import random
import resource
import unittest

import harness

STARVE = pathlib.Path(os.environ.get("SINEW_BUILD", ".")) / "libstarve.so"

SHOT = """\
sinew: 1
gravity: 0
materials: {m: {young: 1 MPa, poisson: 0.5, density: 1000}}
robot:
  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: m, strain: cosserat legendre 3}}
loads: {push: {on: arm.tip, force: [0, 0, 1 mN]}}
study:
  - static: {engine: shooting, for: 0.1 s, step: 0.05 s}
  - dynamic: {engine: shooting, for: 0.1 s, step: 0.05 s, scheme: bdf2}
probes: {tip: {position: arm.tip}}
"""


@unittest.skipUnless(STARVE.exists(), "without its library")
class Memory(harness.Case):
    def starved(self, *args, **settings):
        env = {"LD_PRELOAD": STARVE, "SNW_STARVE_COUNT": self.folder / "count", **settings}
        # our library is loaded before that of a sanitizer, which would refuse to start
        env["ASAN_OPTIONS"] = "verify_asan_link_order=0"
        return self.sinew(*args, env={**os.environ, **{k: str(v) for k, v in env.items()}})

    def attack(self, *args, points=12):
        self.assertEqual(self.starved(*args).code, 0)
        calls = int((self.folder / "count").read_text())
        before = [name for name in self.files() if name.endswith((".yaml", ".h5"))]
        dice = random.Random(calls)
        few = sorted(dice.sample(range(1, calls + 1), min(points, calls)))
        for at in harness.few(few, 6):
            for once in ({}, {"SNW_STARVE_ONCE": 1}):
                with self.subTest(args=args, at=at, **once):
                    result = self.starved(*args, SNW_STARVE_AT=at, **once)
                    self.assertIn(result.code, (0, 1), result)
                    if result.code == 1:
                        self.assertRegex(result.err, "memory")
                    self.assertFalse([name for name in self.files() if "part" in name])
        self.assertEqual(before, [name for name in self.files() if name.endswith((".yaml", ".h5"))])

    def test_models(self):
        self.write("arm.yaml", harness.ROLLED)
        self.write("shot.yaml", SHOT)
        self.attack("check", "arm.yaml")
        self.attack("run", "arm.yaml", points=30)
        self.attack("run", "shot.yaml", points=30)

    def test_results(self):
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml")
        self.attack("show", "arm.h5")
        self.attack("plot", "arm.h5", "--shape", "-o", "arm.svg")
        self.attack("export", "arm.h5", "--run", "text", "-o", "arm.glb")


@unittest.skipIf(harness.SLOW, "sanitizers reserve terabytes of address space")
class AddressSpace(harness.Case):
    """OpenBLAS maps 128 MiB for its first matrix, and would retry for ever where they are not available."""

    def test_too_little_memory_is_reported(self):
        self.write("arm.yaml", harness.ROLLED)
        told = 0
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            for megabytes in (90, 110, 130, 150, 170, 200, 400):
                limit = lambda: (harness.limit_work(60)(), resource.setrlimit(kind, (megabytes << 20, megabytes << 20)))
                result = self.sinew("run", "arm.yaml", "-q", preexec_fn=limit)
                with self.subTest(megabytes=megabytes, kind=kind):
                    if result.code == 127:
                        continue  # not even its libraries can be loaded
                    self.assertIn(result.code, (0, 1), result)
                    if result.code == 1:
                        self.assertRegex(result.err, r"^arm.yaml: .*(memory|OpenBLAS)")
                        told += "arm.yaml: OpenBLAS needs 128 MiB of address space" in result.err and "ulimit" in result.err
            self.assertEqual(result.code, 0, "400 MB will do")
        self.assertGreater(told, 0)


if __name__ == "__main__":
    harness.main()
