# SPDX-License-Identifier: MIT
"""The driver of measurements on a graphics processor, bench/device.py, by the program on the host."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import sinew

ROOT = pathlib.Path(__file__).resolve().parents[2]


def call(out, *options):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(pathlib.Path(sinew.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(ROOT / "bench/device.py"), str(out), "--device", "host", "--small", *options]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, timeout=100)
    return [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]


def test_the_driver_measures_reports_and_goes_on(tmp_path, arm_text):
    try:
        sinew.Batch(sinew.Model(text=arm_text), 1, device="host")
    except sinew.ArgumentError:
        pytest.skip("a build without batches on devices")
    options = ["--parts", "info,kernels,variants,throughput,profile,sanitizer,examples", "--models", "rod 9 x 21,snake on ground", "--seconds"]
    late = call(tmp_path, *options, "0.5")  # no time for a task: only what is not one
    assert [row["part"] for row in late] == ["info"] and late[0]["date"] and late[0]["cores"]
    rows = call(tmp_path, *options, "60")
    of = [row for row in rows if row["part"] == "throughput" and "steps/s" in row]
    assert {row["robots"] for row in of} == {2, 5} and {row["account"] for row in of} == {True, False}
    assert all(row["steps/s"] > 0 and row["iterations"] > 1 and row["failed"] == 0 and row["bytes"] > 0 for row in of if row["name"] == "rod 9 x 21")
    cores = [row for row in rows if row["part"] == "cores" and row["name"] == "rod 9 x 21" and "threads" in row]
    assert cores and all(row["failed"] == 0 and row["steps/s"] > 0 for row in cores)
    assert all(row["why"] == "" for row in rows if "why" in row)  # no process failed
    moved = [row for row in rows if row["part"] == "examples" and "difference" in row]  # the others are for statics
    assert moved and all(row["steps"] == 5 and row["difference"] < 1e-10 and not row["failed"] for row in moved)
    assert {row["kernels"] for row in rows if row["part"] == "variants" and "steps/s" in row} == {"full", "quick", "mid"}
    ends = [row for row in rows if row.get("end")]
    text = (tmp_path / "report.txt").read_text()
    assert "rod 9 x 21" in text and "compute-sanitizer: not run" in text
    again = call(tmp_path, *options, "60")  # nothing is measured twice
    assert [row for row in again if row.get("end")] == ends
