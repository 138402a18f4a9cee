# SPDX-License-Identifier: MIT
"""sinew play: what it serves and to whom, and what it says when it cannot. The page itself is looked at in viewer/test."""
import re
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

import harness
from harness import Case

MODEL = """\
sinew: 1
parameters: {m: 1 kg, law: "2*t", list: [1, 2]}
robot: {bob: {on: world, joint: revolute, axis: y, body: {mass: m, com: [1 m, 0, 0], inertia: [0, 0, 0]}}}
actuators: {motor: {joint: bob, effort: 0 N*m}}
probes: {a: {angle: bob}}
live: {motor: [-1 N*m, 1 N*m], m: [0.5 kg, 2 kg]}
study: [{dynamic: {for: 1 s, step: 5 ms}}]
"""


def can_play():
    """Was the command built with libwebsockets and with Node?"""
    done = subprocess.run([harness.SINEW, "play", "/nonexistent.yaml"], capture_output=True, text=True)
    return "was built without" not in done.stderr


class Missing(Case):
    @unittest.skipIf(can_play(), "this build has all that it takes")
    def test_a_command_that_cannot_play_says_what_to_install(self):
        self.write("m.yaml", MODEL)
        r = self.sinew("play", "m.yaml")
        self.assertEqual(r.code, 1, r)
        self.assertRegex(r.err, "without libwebsockets; install libwebsockets-dev|without its viewer: .*make viewer")


class Language(Case):
    def refused(self, live, message):
        self.write("m.yaml", re.sub(r"(?m)^live: .*$", "live: " + live, MODEL))
        r = self.sinew("check", "m.yaml")
        self.assertEqual(r.code, 2, r)
        self.assertRegex(r.err, r"m\.yaml:6:\d+: " + message)

    def test_live_names_actuators_and_constant_parameters(self):
        self.write("m.yaml", MODEL)
        self.assertEqual(self.sinew("check", "m.yaml").code, 0)
        self.refused("{moto: [0, 1]}", "there is no actuator and no parameter 'moto'")
        self.refused("{n: [0, 1]}", "there is no actuator and no parameter 'n'")
        self.refused("{law: [0, 1]}", "parameter 'law' is no constant number")
        self.refused("{list: [0, 1]}", "parameter 'list' is no constant number")
        self.refused("{motor: [0 N, 1 N]}", ".*torque")
        self.refused("{m: [0 m, 1 m]}", ".*mass")
        self.refused("{m: [2, 1]}", "'m' goes from its lower to its higher end")
        self.refused("{m: 3}", ".*list")
        self.refused("{m: [1, 2, 3]}", ".*2")
        self.refused("{m: [t, 2]}", ".*")


@unittest.skipUnless(can_play(), "built without libwebsockets or Node")
class Play(Case):
    def serve(self, *args):
        self.write("m.yaml", MODEL)
        process = self.start("play", "m.yaml", *args)
        head = [process.stdout.readline() for _ in range(3)]
        return process, head[1].strip()

    def end(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual((process.returncode, err), (0, ""))
        return out

    def status(self, address, **headers):
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=harness.PATIENCE) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as e:
            return e.code, b""

    def test_the_page_is_at_its_address_and_nowhere_else(self):
        process, address = self.serve()
        self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        code, page = self.status(address)
        self.assertEqual(code, 200)
        self.assertTrue(page.startswith(b"<!doctype html>") and page.rstrip().endswith(b"</html>"))
        self.assertNotIn(b"sinew-data-->", page)
        self.assertEqual(self.status(address[:-2] + "x/")[0], 404)
        self.assertEqual(self.status(address.rsplit("/", 2)[0] + "/")[0], 404)
        self.assertEqual(self.status(address, Host="example.org")[0], 403)
        self.assertRegex(self.end(process), r"^\d+ pictures, \d+ steps")
        self.assertEqual(self.files(), ["m.yaml"])

    def test_two_servers_have_two_secrets_and_a_taken_port_is_told(self):
        first, one = self.serve()
        second, two = self.serve()
        self.assertNotEqual(one.split("/")[-2], two.split("/")[-2])
        port = re.search(r":(\d+)/", one)[1]
        r = self.sinew("play", "m.yaml", "--port", port)
        self.assertEqual(r.code, 1, r)
        self.assertRegex(r.err, f"cannot listen on port {port}")
        self.end(first)
        self.end(second)

    def test_a_port_may_be_chosen(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        process, address = self.serve("--port", port)
        self.assertIn(f":{port}/", address)
        self.end(process)

    def test_bad_words_are_told_before_anything_is_served(self):
        self.write("m.yaml", MODEL)
        for args in (["--port", "x"], ["--port", "70000"], ["--step", "0"], ["--run", "none"]):
            self.assertEqual(self.sinew("play", "m.yaml", *args).code, 2, args)
        self.assertEqual(self.sinew("play", "none.yaml").code, 2)


if __name__ == "__main__":
    harness.main()
