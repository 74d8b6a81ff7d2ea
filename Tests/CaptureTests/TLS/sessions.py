"""Sessions of MQTT over TLS between openssl's client and server, as a relay between them sees them.

    python3 sessions.py FOLDER

makes a file per session: lines "> HEX" of the client and "< HEX" of the server in the order in which they came, and
keys.log with the secrets of all of them.
"""

import base64
import os
import queue
import select
import socket
import subprocess
import sys
import threading

CONNECT = bytes.fromhex("100c00044d5154540402003c0000")
CONNACK = bytes.fromhex("20020000")
PINGREQ, PINGRESP, DISCONNECT = b"\xc0\x00", b"\xd0\x00", b"\xe0\x00"
PATIENCE = 20


def publish(letter, count):
    body = b"\x00\x03a/b" + letter * (count - 3) + b"end"
    head, size = b"\x30", len(body)
    while True:
        size, low = divmod(size, 128)
        head += bytes([low | (0x80 if size else 0)])
        if not size:
            return head + body


class End:
    """A process, what it reads, and what it has printed."""

    def __init__(self, *arguments, config=None):
        self.process = subprocess.Popen(
            ["openssl", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, bufsize=0,
            env=os.environ | ({"OPENSSL_CONF": config} if config else {}))
        self.printed = b""
        self.pieces = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while piece := self.process.stdout.read(65536):
            self.pieces.put(piece)
        self.pieces.put(b"")

    def write(self, text):
        self.process.stdin.write(text)

    def wait(self, text):
        """Waits until it has printed something, and forgets it with all before."""
        while text not in self.printed:
            piece = self.pieces.get(timeout=PATIENCE)
            if not piece:
                raise SystemExit(f"openssl ended before {text[:20]!r}: {self.printed[-400:]!r}")
            self.printed += piece
        self.printed = self.printed.split(text, 1)[1]


class Relay:
    """Stands between a client and its server, and writes down what each of them sends."""

    def __init__(self, server_port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.server_port = server_port
        self.lines = []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        client, _ = self.listener.accept()
        server = socket.create_connection(("127.0.0.1", self.server_port))
        ways = {client: (server, "> "), server: (client, "< ")}
        while ways:
            for end in select.select(list(ways), [], [])[0]:
                to, mark = ways[end]
                try:
                    piece = end.recv(65536)
                    if piece:
                        self.lines.append(mark + piece.hex())
                        to.sendall(piece)
                    else:
                        to.shutdown(socket.SHUT_WR)
                except OSError:
                    piece = b""
                if not piece:
                    del ways[end]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Sessions:
    def __init__(self, folder):
        self.folder = folder
        os.chdir(folder)
        subprocess.run(
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2"
            " -subj /CN=broker.example -addext subjectAltName=DNS:broker.example",
            shell=True, check=True, stderr=subprocess.DEVNULL)

    def play(self, name, server_options, clients, config=None):
        """Plays the sessions of clients with one server: (suffix, options, steps)."""
        port = free_port()
        quiet = [] if "-early_data" in server_options else ["-quiet"]
        server = End(
            "s_server", "-accept", f"127.0.0.1:{port}", "-cert", "cert.pem", "-key", "key.pem",
            "-keylogfile", f"{name}.server", *quiet, *server_options,
            config=config)
        wait_for(port, server)
        for suffix, options, steps in clients:
            relay = Relay(port)
            client = End(
                "s_client", "-connect", f"127.0.0.1:{relay.port}", "-servername",
                "broker.example", "-keylogfile", f"{name}{suffix}.keys", *options)
            steps(client, server)
            client.process.stdin.close()
            client.process.wait(timeout=PATIENCE)
            relay.thread.join(timeout=PATIENCE)
            with open(f"{name}{suffix}.txt", "w") as file:
                file.write("\n".join(relay.lines) + "\n")
        server.process.kill()
        server.process.wait()


    def make_shared(self, path, suite, options=()):
        """Makes a session to be shared, whose key is 00 01 02 and so on."""
        suites = ["-tls1_3", "-ciphersuites", suite]
        self.play("shared", suites + [*options], [("", suites + ["-sess_out", path], session)])
        text = subprocess.run(
            ["openssl", "sess_id", "-in", path, "-noout", "-text"], check=True, capture_output=True,
            text=True).stdout
        key = bytes.fromhex(text.split("Resumption PSK: ")[1].split()[0])
        with open(path) as file:
            content = base64.b64decode("".join(file.read().split("\n")[1:-2]))
        content = base64.b64encode(content.replace(key, bytes(range(len(key))))).decode()
        lines = [content[start:start + 64] for start in range(0, len(content), 64)]
        frame = "-----{} SSL SESSION PARAMETERS-----"
        with open(path, "w") as file:
            file.write("\n".join([frame.format("BEGIN"), *lines, frame.format("END"), ""]))


def wait_for(port, server):
    """Waits until the server listens; a connection to ask would be its first client."""
    inode = f"0100007F:{port:04X}"
    while server.process.poll() is None:
        with open("/proc/net/tcp") as table:
            if any(line.split()[1] == inode and line.split()[3] == "0A" for line in table):
                return
    raise SystemExit(f"openssl s_server does not start: {server.process.stdout.read()!r}")


def session(client, server, command=None):
    connect(client, server)
    if command:
        letter, answer = command
        client.write(letter)
        client.wait(answer)
    go_on(client, server)


def connect(client, server):
    client.write(CONNECT)
    server.wait(CONNECT)
    server.write(CONNACK)
    client.wait(CONNACK)


def go_on(client, server):
    message = publish(b"x", 20_000)
    client.write(message)
    server.wait(message[-9:])
    message = publish(b"y", 30_000)
    server.write(message)
    client.wait(message[-9:])
    client.write(PINGREQ)
    server.wait(PINGREQ)
    server.write(PINGRESP)
    client.wait(PINGRESP)
    client.write(DISCONNECT)
    server.wait(DISCONNECT)


def commanded(*command):
    return lambda client, server: session(client, server, command)


def early(client, server):
    server.wait(CONNECT)
    server.write(CONNACK)
    client.wait(CONNACK)
    go_on(client, server)


SUITES_13 = [
    "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256",
]
SUITES_12 = [
    "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
    "DHE-RSA-AES128-CCM", "DHE-RSA-AES256-CCM8", "AES128-CCM8", "AES256-CCM", "AES128-SHA",
    "AES128-SHA256", "ECDHE-RSA-AES256-SHA384", "NULL-SHA", "NULL-SHA256",
]


PLAIN_MASTER_SECRET = """openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = defaults
[defaults]
Options = -ExtendedMasterSecret
"""


def main(folder):
    sessions = Sessions(folder)
    tls12, tls13 = ["-tls1_2"], ["-tls1_3"]
    jobs = []
    with open("early.bin", "wb") as file:
        file.write(CONNECT)

    def add(name, server_options, *clients, config=None):
        jobs.append((name, server_options, clients, config))

    def cipher(suite):
        return ["-cipher", f"{suite}:@SECLEVEL=0"]

    for suite in SUITES_13:
        add(suite, tls13 + ["-ciphersuites", suite], ("", ["-ciphersuites", suite], session))
    for suite in SUITES_12:
        add(suite, tls12 + cipher(suite), ("", cipher(suite), session))
    for suite in ["AES128-SHA", "ECDHE-RSA-AES256-SHA384"]:
        add(f"{suite}-mac-first", tls12 + cipher(suite), ("", cipher(suite) + ["-no_etm"], session))
    with open("plain.cnf", "w") as file:
        file.write(PLAIN_MASTER_SECRET)
    add("AES128-SHA-plain-master", tls12 + cipher("AES128-SHA"),
        ("", cipher("AES128-SHA"), session), config="plain.cnf")
    for suite in ["PSK-AES128-GCM-SHA256", "PSK-AES128-CCM8", "PSK-AES256-CBC-SHA"]:
        psk = ["-psk", "00112233445566778899aabbccddeeff", "-nocert"]
        add(suite, tls12 + cipher(suite) + psk, ("", cipher(suite) + psk[:2], session))
    # The client's part is encrypted by the server's key, or by Diffie-Hellman, and the key that both have goes into it.
    for suite in ["RSA-PSK-AES128-GCM-SHA256", "RSA-PSK-AES256-CBC-SHA384", "DHE-PSK-AES128-GCM-SHA256"]:
        psk = ["-psk", "00112233445566778899aabbccddeeff"]
        add(suite, tls12 + cipher(suite) + psk, ("", cipher(suite) + psk, session))
    # With no group in common, nothing but the key that both ends have makes the secrets.
    only, client_only = ["-groups", "P-384"], ["-groups", "X25519"]
    for suite in ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"]:
        psk = ["-psk", "00112233445566778899aabbccddeeff", "-allow_no_dhe_kex", "-ciphersuites", suite]
        add(f"only-shared-{suite}", tls13 + psk + only, ("", psk + client_only, session))
        add(f"also-shared-{suite}", tls13 + psk[:2] + psk[3:], ("", psk[:2] + psk[3:], session))
    suite = "TLS_AES_256_GCM_SHA384"
    sessions.make_shared("shared.session", suite)
    psk = ["-psk_session", "shared.session", "-allow_no_dhe_kex", "-ciphersuites", suite]
    add(f"only-shared-{suite}", tls13 + psk + only, ("", psk + client_only, session))
    # Early data that only the shared key protects, with what follows protected in either way.
    sessions.make_shared("early-shared.session", "TLS_AES_256_GCM_SHA384", ["-early_data"])
    psk = ["-psk_session", "early-shared.session", "-ciphersuites", "TLS_AES_256_GCM_SHA384"]
    for name, groups, client_groups in [
        ("only-shared-early", only + ["-allow_no_dhe_kex"], client_only + ["-allow_no_dhe_kex"]),
        ("also-shared-early", [], []),
    ]:
        add(f"{name}_SHA384", tls13 + psk + groups + ["-early_data"],
            ("", psk + client_groups + ["-early_data", "early.bin"], early))
    add("padded", tls13 + ["-record_padding", "512"], ("", ["-record_padding", "300"], session))
    add("application", tls13 + ["-alpn", "mqtt"], ("", ["-alpn", "x-amzn-mqtt-ca,mqtt"], session))
    add("retry", tls13 + ["-groups", "P-384"], ("", ["-groups", "X25519:P-384"], session))
    add("update", tls13, ("-both", [], commanded(b"K\n", b"KEYUPDATE")), ("-one", [], commanded(b"k\n", b"KEYUPDATE")))
    add("renegotiated", tls12 + ["-client_renegotiation"],
        ("", ["-legacy_renegotiation"], commanded(b"R\n", b"RENEGOTIATING")))
    for name, options in [
        ("ticket", tls12), ("id", tls12 + ["-no_ticket"]), ("psk", tls13),
        ("rsa-ticket", tls12 + cipher("AES128-SHA")),
        ("rsa-id", tls12 + ["-no_ticket"] + cipher("AES128-SHA")),
    ]:
        suites = cipher("AES128-SHA") if "rsa" in name else []
        add(f"resumed-{name}", options,
            ("-1", suites + ["-sess_out", f"{name}.session"], session),
            ("-2", suites + ["-sess_in", f"{name}.session"], session))
    add("early", tls13 + ["-early_data"],
        ("-1", ["-sess_out", "early.session"], session),
        ("-2", ["-sess_in", "early.session", "-early_data", "early.bin"], early))

    # Early data that the server does not take: for another protocol than before, and because it asks for another hello.
    early_data = ["-early_data", "early.bin"]
    add("unheard", tls13 + ["-early_data", "-alpn", "other,mqtt"],
        ("-1", ["-alpn", "mqtt", "-sess_out", "unheard.session"], session),
        ("-2", ["-alpn", "other,mqtt", "-sess_in", "unheard.session"] + early_data, session))
    add("unheard-retry", tls13 + ["-early_data", "-groups", "P-384"],
        ("-1", ["-groups", "P-384", "-sess_out", "retry.session"], session),
        ("-2", ["-groups", "X25519:P-384", "-sess_in", "retry.session"] + early_data, session))

    # A ticket that a server of other keys does not take: what follows is a handshake of its own.
    suite = cipher("AES128-SHA")
    for suffix, option in [("-1", "-sess_out"), ("-2", "-sess_in")]:
        sessions.play("refused", tls12 + suite, [(suffix, suite + [option, "refused.session"], session)])

    failed = []

    def work():
        while jobs:
            job = jobs.pop()
            try:
                sessions.play(*job)
            except (Exception, SystemExit) as error:
                failed.append(f"{job[0]}: {error!r}")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise SystemExit("\n".join(failed))


main(sys.argv[1])
