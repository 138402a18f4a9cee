# SPDX-License-Identifier: MIT
"""Live simulations, and what a notebook shows of a robot."""

import gc
import re
import subprocess
import urllib.request

import numpy as np
import pytest

import sinew


@pytest.fixture
def live(arm):
    done = subprocess.run([sinew.command_path(), "play", "/nonexistent.yaml"], capture_output=True, text=True)
    if "was built without" in done.stderr:
        pytest.skip("the command was built without libwebsockets or Node: no live simulation")
    return arm


def test_a_live_page_may_be_framed_by_pages_of_this_machine(live):
    live.parameters["E"] = "2 MPa"
    with live.play() as play:
        assert play.running
        with urllib.request.urlopen(play.address, timeout=60) as answer:
            assert "frame-ancestors http://127.0.0.1:* http://localhost:*" in answer.headers["content-security-policy"]
            assert answer.read().startswith(b"<!doctype html>")
        assert f'src="{play.address}"' in play._repr_html_()
    assert not play.running
    assert "ended" in repr(play) and "ended" in play._repr_html_()


def test_a_live_simulation_ends_with_its_object(live):
    play = live.play(state=False)
    process = play._process
    del play
    gc.collect()
    assert process.poll() is not None


def test_the_state_goes_to_the_command(live, tmp_path):
    """A state of the wrong size is told, so the right one has been read."""
    live.q[0], live.t = 0.5, 0.25
    play = live.play()
    file = play._process.args[play._process.args.index("--state") + 1]
    numbers = np.loadtxt(file)
    play.close()
    assert np.array_equal(numbers, np.concatenate([[0.25], live.q, live.v]))
    with pytest.raises(sinew.Error, match="the state of this robot has 34 numbers, t, 17 of q and 16 of v, but 33 are given"):
        sinew.Play(text=live.model._source.text, state=(0.0, live.q, live.v[1:]))


def test_a_bad_model_is_told():
    with pytest.raises(sinew.Error, match="robot"):
        sinew.Play(text="sinew: 1\nrobot: 3\n")


def test_a_notebook_shows_a_sketch_of_the_robot(arm):
    page = arm._repr_html_()
    assert page.count("<polyline") == 6  # three axes, three links
    assert "<title>arm</title>" in page and "&lt;sinew.Robot" in page
    before = re.findall(r'points="([^"]*)"', page)
    arm.q[0] = 0.7
    assert re.findall(r'points="([^"]*)"', arm._repr_html_()) != before
