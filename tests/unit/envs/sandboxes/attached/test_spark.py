"""Spark SQL as an attached database: a Thrift server of PySpark's on loopback, asked by PyHive."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.unit.envs.sandboxes.attached.contract import AttachedContract

SERVER = """
import sys
from pyspark.sql import SparkSession

port, home = sys.argv[1:]
settings = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.warehouse.dir": f"{home}/warehouse",
    "spark.sql.shuffle.partitions": "1",
    "spark.hadoop.hive.server2.authentication": "NOSASL",
    "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    "spark.hadoop.hive.server2.thrift.port": port,
}
builder = SparkSession.builder.master("local[2]")
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
for statement in (
    "CREATE TABLE author (id INT, name STRING) USING parquet",
    "INSERT INTO author VALUES (1, 'Ann'), (2, 'Bo'), (10, 'O\\\\'Hara')",
    "CREATE TABLE visit (line STRING) USING parquet",
    "INSERT INTO visit VALUES ('first'), ('first')",
):
    spark.sql(statement)
thrift = spark._jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
thrift.startWithContext(spark._jsparkSession.sqlContext())
print("ready", flush=True)
for line in sys.stdin:
    spark.sql(line.strip())
    print("done", flush=True)
"""


@pytest.mark.long
class TestSpark(AttachedContract):
    """Needs `pip install pyspark pyhive thrift thrift-sasl pure-sasl`, and Java 17."""

    slow = "SELECT count(*) FROM range(1000000000) a CROSS JOIN range(1000000000) b"
    writes = (
        "WITH x AS (SELECT 1) INSERT INTO visit SELECT 'x' FROM x",
        "FROM author INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT *",
        "CREATE TABLE copied AS SELECT 1",
        "SET spark.sql.shuffle.partitions = 7",
        "SELECT reflect('java.lang.System', 'setProperty', 'a', 'b')",
        "SELECT java_method('java.lang.System', 'gc')",
        "SELECT TRANSFORM(id) USING 'cat' AS (a) FROM author",
        "CACHE TABLE author",
        "REFRESH TABLE author",
    )

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _server(cls, tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
        for name in ("pyspark", "pyhive"):
            pytest.importorskip(name)
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java")
        home = tmp_path_factory.mktemp("spark")
        (home / "server.py").write_text(SERVER)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        command = [sys.executable, "server.py", str(cls.port), str(home)]
        with (
            Path(home / "log").open("w") as log,
            subprocess.Popen(
                command,
                cwd=home,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            cls.process = process
            try:
                cls._await("ready")
                yield
            finally:
                process.stdin.close()
                process.terminate()

    @classmethod
    def _await(cls, word: str) -> None:
        for line in cls.process.stdout:
            if word in line:
                return
        raise AssertionError("the Thrift server ended")

    def address(self) -> str:
        return f"hive://reader@127.0.0.1:{self.port}/default?auth=NOSASL"

    def change(self) -> None:
        self.process.stdin.write("INSERT INTO visit VALUES ('new')\n")
        self.process.stdin.flush()
        self._await("done")
