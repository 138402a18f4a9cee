# SPDX-License-Identifier: MIT
"""The recipes of docs/howto/cluster.md by the programs they are for, where these are installed; MPI is in test_sweep.py."""
import csv
import os
import pathlib
import re
import shutil
import subprocess

import harness
from harness import Case

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Cluster(Case):
    def prepare(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")
        for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", (SOURCE / "docs/howto/sweep.md").read_text(), re.S):
            self.write("finger.sweep.yaml" if name == "beam_sweep.yaml" else name, text)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "sinew").symlink_to(harness.SINEW)

    def call(self, *args):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        done = subprocess.run(args, cwd=self.folder, capture_output=True, text=True, timeout=harness.PATIENCE,
                              env={**os.environ, "PATH": path, "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_whole(self):
        """The file has all rows, with the values of a sweep by one process."""
        self.succeeds("sweep", "finger.sweep.yaml", "-o", "alone.h5", "-j", 1)
        tables = []
        for name in ("finger", "alone"):
            self.succeeds("sweep", f"{name}.h5", "--csv", f"{name}.csv")
            with open(self.folder / f"{name}.csv", newline="", encoding="utf-8") as file:
                tables.append([{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)])
        self.assertIn("those of a sweep, which 'sinew sweep'", self.fails(2, "show", "alone.h5").err)
        self.assertEqual(len(tables[0]), 22)
        self.assertEqual(*tables)

    def test_gnu_parallel_shares_the_rows(self):
        self.prepare("parallel")
        self.call("parallel", "--will-cite", "-j2", "sinew", "sweep", "finger.sweep.yaml", "-o", "finger.h5", "--shard", "{}/3", "--resume", ":::", "1", "2", "3")
        self.assert_whole()

    def test_snakemake_follows_the_page(self):
        self.prepare("snakemake")
        page = re.search(r"# Snakefile\n(.*?)```", (SOURCE / "docs/howto/cluster.md").read_text(), re.S)[1]
        self.write("Snakefile", page.replace("SHARDS = 16", "SHARDS = 3").replace("threads: 4", "threads: 1"))
        self.call("snakemake", "-j2")
        self.assert_whole()

    def test_jobs_of_a_slurm_array_follow_the_page(self):
        # the script of the page, by a shell that has the variables which Slurm sets
        self.prepare("sh")
        page = re.search(r"(#!/bin/sh\n#SBATCH --array=1-16.*?)```", (SOURCE / "docs/howto/cluster.md").read_text(), re.S)[1]
        self.write("job.sh", page.replace("/16", "/3"))
        for i in (2, 3, 1):
            self.call("env", f"SLURM_ARRAY_TASK_ID={i}", "SLURM_CPUS_PER_TASK=1", "sh", "job.sh")
        self.assert_whole()


if __name__ == "__main__":
    harness.main()
