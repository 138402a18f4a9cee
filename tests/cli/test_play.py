# SPDX-License-Identifier: MIT
"""sinew play: its answers to clients, and its messages when it cannot serve. The page itself is tested in
viewer/test."""
import re
import select
import signal
import socket
import subprocess
import threading
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


TEXT, CLOSE, PING, PONG = 1, 8, 9, 10  # of WebSocket frames


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
        self.refused("{law: [0, 1]}", "parameter 'law' is not a constant number")
        self.refused("{list: [0, 1]}", "parameter 'list' is not a constant number")
        self.refused("{motor: [0 N, 1 N]}", ".*torque")
        self.refused("{m: [0 m, 1 m]}", ".*mass")
        self.refused("{m: [2, 1]}", "'m' must go from its lower to its higher end")
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
        self.assertRegex(self.end(process), r"^\d+ frames, \d+ steps")
        self.assertEqual(self.files(), ["m.yaml"])

    def upgraded(self, address):
        """A socket after the handshake of a WebSocket."""
        port = int(re.search(r":(\d+)/", address)[1])
        s = socket.create_connection(("127.0.0.1", port), timeout=harness.PATIENCE)
        self.addCleanup(s.close)
        path = address[address.index("/", 8):]
        s.sendall(f"GET {path}live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            more = s.recv(1)
            self.assertTrue(more, head)
            head += more
        self.assertTrue(head.startswith(b"HTTP/1.1 101"), head)
        return s

    def frame(self, s):
        """Opcode and payload of the next frame; None: the connection is closed."""
        def take(n):
            data = b""
            while len(data) < n:
                try:
                    more = s.recv(n - len(data))
                except ConnectionResetError:
                    more = b""
                if not more:
                    return None
                data += more
            return data
        head = take(2)
        if head is None:
            return None
        size = head[1] & 0x7f
        if size >= 126:
            size = int.from_bytes(take(2 if size == 126 else 8), "big")
        return head[0] & 0xf, take(size)

    def until(self, s, opcode):
        """The payload of the next frame of this kind; None: the connection was closed before."""
        while (frame := self.frame(s)) is not None:
            if frame[0] == opcode:
                return frame[1]
        return None

    @staticmethod
    def sent(opcode, payload, mask=b"\x11\x22\x33\x44"):
        """A frame of a client; without a mask it is invalid."""
        size = len(payload)
        length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
        length = bytes([length[0] | (0x80 if mask else 0)]) + length[1:]
        data = bytes(b ^ mask[i % 4] for i, b in enumerate(payload)) if mask else payload
        return bytes([0x80 | opcode]) + length + mask + data

    def test_frames_without_a_mask_close_the_connection(self):
        process, address = self.serve()
        # masked ones of every length are answered
        s = self.upgraded(address)
        for size in (0, 1, 124, 125):
            s.sendall(self.sent(TEXT, b"x" * 300) + self.sent(PING, b"p" * size))
            self.assertEqual(self.until(s, PONG), b"p" * size)
        s.sendall(b"".join(self.sent(TEXT, b"x" * n) for n in (0, 1, 125, 126, 127, 500, 60000)) + self.sent(PING, b"end"))
        self.assertEqual(self.until(s, PONG), b"end")
        # also byte by byte
        for b in self.sent(TEXT, b"y" * 200) + self.sent(PING, b"slow"):
            s.sendall(bytes([b]))
        self.assertEqual(self.until(s, PONG), b"slow")
        s.close()
        for bad in (self.sent(TEXT, b'{"do":"pause","on":true}', b""), self.sent(PING, b"p", b""), self.sent(TEXT, b"z" * 200, b""),
                    self.sent(TEXT, b"fine") + self.sent(TEXT, b'{"do":"reset"}', b"")):
            with self.subTest(bad=bad[:8]):
                s = self.upgraded(address)
                s.sendall(bad + self.sent(PING, b"after"))
                while (frame := self.frame(s)) is not None and frame[0] != CLOSE:
                    self.assertNotEqual(frame, (PONG, b"after"), "it listens as if nothing were amiss")
                self.assertIn(frame, (None, (CLOSE, (1002).to_bytes(2, "big"))))
        # other connections are not affected
        s = self.upgraded(address)
        s.sendall(self.sent(PING, b"still"))
        self.assertEqual(self.until(s, PONG), b"still")
        s.close()
        self.end(process)

    def test_silent_connections_do_not_block_others(self):
        process, address = self.serve()
        port = int(re.search(r":(\d+)/", address)[1])
        s = self.upgraded(address)
        done = threading.Event()

        def crowd(words, n):
            """This many connections that stay half open, opened again when they are closed."""
            open_ones = []
            while not done.wait(0.01):
                while len(open_ones) < n and not done.is_set():
                    try:
                        open_ones.append(socket.create_connection(("127.0.0.1", port), timeout=1))
                        open_ones[-1].sendall(words)
                    except OSError:
                        break  # try again later
                # a readable connection has been closed by the server
                for one in select.select(open_ones, [], [], 0)[0]:
                    open_ones.remove(one)
                    one.close()
            for one in open_ones:
                one.close()

        crowds = [threading.Thread(target=crowd, args=a) for a in ((b"", 100), (b"GET /", 50), (b"GET / HTTP/1.1\r\nHost: x\r\n", 50))]
        for c in crowds:
            c.start()
        try:
            for _ in range(3):
                self.assertEqual(self.status(address)[0], 200)
                s.sendall(self.sent(PING, b"here"))
                self.assertEqual(self.until(s, PONG), b"here")
            self.upgraded(address)
        finally:
            done.set()
            for c in crowds:
                c.join()
        s.close()
        self.end(process)

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

    def policy(self, address):
        with urllib.request.urlopen(address, timeout=harness.PATIENCE) as answer:
            return answer.headers["content-security-policy"]

    def test_only_an_embedded_page_may_be_framed(self):
        for option, ancestors in (((), "'none'"), (("--embed",), "http://127.0.0.1:* http://localhost:*")):
            process, address = self.serve(*option)
            self.assertTrue(self.policy(address).endswith("frame-ancestors " + ancestors))
            self.end(process)

    def test_a_state_to_begin_from(self):
        self.write("s.txt", "0.5\n1e-1 -2\n")
        process, _ = self.serve("--state", "s.txt")
        self.end(process)
        for text, message in (("0.5 1", r"m\.yaml: the state of this robot has 3 numbers, t, 1 of q and 1 of v, but 2 are given"),
                              ("0.5 1 nan", r"m\.yaml: number 3 of the state is not finite"),
                              ("0 angle 1", r"s\.txt: 'angle 1' is no number")):  # fmt: skip
            self.write("s.txt", text)
            r = self.sinew("play", "m.yaml", "--state", "s.txt")
            self.assertEqual(r.code, 2, r)
            self.assertRegex(r.err, message)
        r = self.sinew("play", "m.yaml", "--state", "absent.txt")
        self.assertEqual(r.code, 2, r)
        self.assertIn("absent.txt", r.err)

    def test_bad_options_are_reported_before_anything_is_served(self):
        self.write("m.yaml", MODEL)
        for args in (["--port", "x"], ["--port", "70000"], ["--step", "0"], ["--run", "none"]):
            self.assertEqual(self.sinew("play", "m.yaml", *args).code, 2, args)
        self.assertEqual(self.sinew("play", "none.yaml").code, 2)


if __name__ == "__main__":
    harness.main()
