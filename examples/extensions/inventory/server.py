"""The inventory as a service over HTTP; `environment.py` starts one for each rollout."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TABLES = {"item": [], "reservation": []}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path not in ("/tables", "/items"):
            return self.answer(404, {"error": "no such page"})
        return self.answer(200, TABLES if self.path == "/tables" else TABLES["item"])

    def do_PUT(self):
        TABLES.update(self.body())
        self.answer(200, {})

    def do_POST(self):
        wanted = self.body()
        item = next((one for one in TABLES["item"] if one["sku"] == wanted["sku"]), None)
        if item is None or item["stock"] < wanted["count"]:
            return self.answer(409, {"error": "There is not enough in stock."})
        item["stock"] -= wanted["count"]
        number = max((one["id"] for one in TABLES["reservation"]), default=0) + 1
        TABLES["reservation"].append({"id": number, **wanted})
        return self.answer(201, {"id": number})

    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """Nothing is logged."""


def end_with_the_owner():
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=end_with_the_owner, daemon=True).start()
    print(server.server_port, flush=True)
    server.serve_forever()
