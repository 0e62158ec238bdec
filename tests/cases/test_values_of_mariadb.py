"""MariaDB's zero dates, unsigned keys, bits, computed columns and stamps under an agent's SQL.
spiceai#4660, dimitri/pgloader#252 and #1098, lanyrd/mysql-postgresql-converter#8, prisma/migrate#514.
"""

from __future__ import annotations

from envs.environments.database import DatabaseExecutableEnvironment
from envs.tools.sql.tool_set import sql_tools
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolCall
from tests.servers import template_of

LARGEST = 18446744073709551615
ORDERS = """
CREATE TABLE orders (order_id BIGINT UNSIGNED PRIMARY KEY, code VARCHAR(20) COLLATE
utf8mb4_general_ci NOT NULL UNIQUE, placed DATE NOT NULL DEFAULT '0000-00-00',
net DECIMAL(10, 2) UNSIGNED NOT NULL, gross DECIMAL(10, 2) AS (net * 2) STORED, touched TIMESTAMP
NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, paid BIT(1) NOT NULL DEFAULT b'1')
"""
ROWS = f"""
INSERT INTO orders (order_id, code, placed, net) VALUES (1, 'AB-1', '0000-00-00', 10),
(2, 'AB-2', '2026-00-00', 20.5), ({LARGEST}, 'ZZ-9', '2026-03-01', 5)
"""


def test_an_agent_reads_and_changes_them() -> None:
    toolbox = Toolbox(sql_tools())
    with (
        template_of("mariadb", ["SET sql_mode = ''", ORDERS, ROWS]) as template,
        DatabaseExecutableEnvironment(toolbox, template.open(Pins()), template.tables) as world,
    ):
        query = "SELECT order_id, placed, net, gross, paid FROM orders ORDER BY order_id"
        read = world.call(ToolCall.of("run_select_query", {"sql": query})).result
        assert read.output["rows"] == [
            [1, "0000-00-00", 10, 20, 1],
            [2, "2026-00-00", 20.5, 41, 1],
            [str(LARGEST), "2026-03-01", 5, 10, 1],
        ]
        change = f"UPDATE orders SET net = 7 WHERE order_id = {LARGEST}"
        outcome = world.call(ToolCall.of("run_mutation_query", {"sql": change}))
        assert outcome.result.output["row_count"] == 1
        (row,) = outcome.changes
        assert row.key == {"order_id": str(LARGEST)}
        assert (row.op, row.before, row.after) == ("update", {"net": "5.00"}, {"net": "7.00"})
        taken = "INSERT INTO orders (order_id, code, net) VALUES (3, 'ab-2', 1)"
        refused = world.call(ToolCall.of("run_mutation_query", {"sql": taken})).result
        assert refused.category == "unique_violation"
