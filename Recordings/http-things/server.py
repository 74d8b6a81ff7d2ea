"""A small server of things over HTTP/1.1, for a recording: python3 server.py PORT; 0 is any port that is free."""

import gzip
import itertools
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

THINGS = {"lamp-1": {"thing": "lamp-1", "on": False}, "door": {"thing": "door", "open": True}}
NUMBERS = itertools.count(41)
changed = threading.Event()


class Things(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "things"

    def do_GET(self):
        path = self.path.split("?")[0]
        name = path.removeprefix("/things/")
        if path == "/things":
            self.answer(200, sorted(THINGS.values(), key=lambda thing: thing["thing"]), packed=True)
        elif path == "/changes":
            changed.wait(10)
            self.answer(200, {"changed": "lamp-1"})
        elif path == "/firmware":
            self.chunks([b"firm", b"ware " * 40, b"\x00\xff"])
        elif path == "/hang-up":
            self.close_connection = True
        elif name in THINGS and self.headers.get("If-None-Match") == '"1"':
            self.answer(304, None, {"ETag": '"1"'})
        elif name in THINGS:
            self.answer(200, THINGS[name], {"ETag": '"1"'})
        else:
            self.answer(404, {"error": "no such thing"})

    do_HEAD = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/login":
            return self.answer(200, {"token": "abc123def456"}, {"Set-Cookie": "sid=s3cr3t; HttpOnly"})
        asked = json.loads(body)
        number = str(next(NUMBERS))
        THINGS[number] = {"thing": number, "name": asked["name"]}
        made = {"requestId": asked["requestId"], "id": number, "name": asked["name"]}
        return self.answer(201, made, {"Location": f"/things/{number}"})

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        THINGS[self.path.removeprefix("/things/")].update(json.loads(body))
        self.answer(204, None)
        changed.set()

    def do_DELETE(self):
        del THINGS[self.path.removeprefix("/things/")]
        self.answer(204, None)

    def answer(self, status, value, fields=None, packed=False):
        body = b"" if value is None else json.dumps(value).encode()
        packed = packed and "gzip" in self.headers.get("Accept-Encoding", "")
        if packed:
            body = gzip.compress(body, mtime=0)
        self.send_response(status)
        for name, text in (fields or {}).items():
            self.send_header(name, text)
        if packed:
            self.send_header("Content-Encoding", "gzip")
        if value is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def chunks(self, parts):
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, form, *arguments):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Things)
    print(f"listens on {server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()
