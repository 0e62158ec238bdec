"""A service over HTTP as an environment: `environment: environment.Inventory` in world.yaml."""

import json
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

from envs import ToolError
from envs.environments.external import ExternalExecutableEnvironment

SERVER = Path(__file__).with_name("server.py")


class Inventory(ExternalExecutableEnvironment):
    """A server process for each rollout, on a port of its own."""

    server = None

    def start(self, rows):
        command = [sys.executable, "-I", "-S", str(SERVER)]
        pipe = subprocess.PIPE
        self.server = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)  # noqa: S603
        self.port = int(self.server.stdout.readline())
        self.send("PUT", "/tables", rows)

    def snapshot(self):
        return self.send("GET", "/tables")

    def stop(self):
        if self.server is not None:
            with self.server:
                self.server.kill()

    def send(self, method, path, body=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.timeout_s)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            value = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status >= 400:
            raise ToolError(value["error"], category="conflict")
        return value
