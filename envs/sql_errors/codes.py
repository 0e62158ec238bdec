"""Meaning of each engine's error codes, as :class:`~envs.types.ErrorCategory`.

Codes are tried first, the exact one before its class; words.py decides only where a code says too
little. The codes come from sqlite.org/rescode.html, PostgreSQL's appendix A, and the servers'
error message references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from envs.types import ErrorCategory as Category

SQLITE_CODES: Mapping[str, Category] = {
    "SQLITE_CONSTRAINT_UNIQUE": Category.UNIQUE_VIOLATION,
    "SQLITE_CONSTRAINT_PRIMARYKEY": Category.UNIQUE_VIOLATION,
    "SQLITE_CONSTRAINT_ROWID": Category.UNIQUE_VIOLATION,
    "SQLITE_CONSTRAINT_FOREIGNKEY": Category.FK_VIOLATION,
    "SQLITE_CONSTRAINT_NOTNULL": Category.NOT_NULL_VIOLATION,
    "SQLITE_CONSTRAINT_CHECK": Category.CHECK_VIOLATION,
    "SQLITE_CONSTRAINT_DATATYPE": Category.TYPE_MISMATCH,  # a STRICT table
    "SQLITE_CONSTRAINT_TRIGGER": Category.UNKNOWN,  # whatever the schema's author meant by it
    "SQLITE_MISMATCH": Category.TYPE_MISMATCH,
    "SQLITE_RANGE": Category.TYPE_MISMATCH,
    "SQLITE_TOOBIG": Category.LIMIT_EXCEEDED,
    "SQLITE_FULL": Category.LIMIT_EXCEEDED,
    "SQLITE_NOMEM": Category.LIMIT_EXCEEDED,
    "SQLITE_INTERRUPT": Category.TIMEOUT,
    "SQLITE_BUSY": Category.TIMEOUT,
    "SQLITE_LOCKED": Category.TIMEOUT,
    "SQLITE_AUTH": Category.PERMISSION_DENIED,
    "SQLITE_PERM": Category.PERMISSION_DENIED,
    "SQLITE_READONLY": Category.PERMISSION_DENIED,
    "SQLITE_CANTOPEN": Category.CONNECTION_ERROR,
    "SQLITE_NOTADB": Category.CONNECTION_ERROR,
    "SQLITE_IOERR": Category.CONNECTION_ERROR,
    "SQLITE_PROTOCOL": Category.CONNECTION_ERROR,
}
"""Name of a result code -> category; an extended name falls back to its primary one."""

SQLITE_PRIMARY = (
    "OK", "ERROR", "INTERNAL", "PERM", "ABORT", "BUSY", "LOCKED", "NOMEM", "READONLY", "INTERRUPT",
    "IOERR", "CORRUPT",
    "NOTFOUND", "FULL", "CANTOPEN", "PROTOCOL", "EMPTY", "SCHEMA", "TOOBIG", "CONSTRAINT",
    "MISMATCH", "MISUSE",
    "NOLFS", "AUTH", "FORMAT", "RANGE", "NOTADB",
)  # fmt: skip
SQLITE_CONSTRAINTS = (
    "", "CHECK", "COMMITHOOK", "FOREIGNKEY", "FUNCTION", "NOTNULL", "PRIMARYKEY", "TRIGGER",
    "UNIQUE", "VTAB", "ROWID",
    "PINNED", "DATATYPE",
)  # fmt: skip
"""Result codes' names, and of SQLITE_CONSTRAINT's extended ones, by their numbers."""

POSTGRES_CODES: Mapping[str, Category] = {
    **dict.fromkeys(("42703",), Category.COLUMN_NOT_FOUND),
    **dict.fromkeys(("42P01", "3F000"), Category.TABLE_NOT_FOUND),
    **dict.fromkeys(("42702", "42712", "42P09"), Category.JOIN_ERROR),
    **dict.fromkeys(("42803", "42P20"), Category.AGGREGATION_ERROR),
    **dict.fromkeys(
        ("42601", "42602", "42622", "42939", "42P02", "42P10", "42P19", "42701", "42000"),
         Category.SYNTAX_ERROR
    ),
    **dict.fromkeys(
        ("42804", "42846", "42883", "42725", "42P08", "42P18", "42P21", "42P22", "42P38"),
         Category.TYPE_MISMATCH
    ),
    **dict.fromkeys(("22004", "22012", "2201E", "2201F"), Category.UNKNOWN),
    **dict.fromkeys(("2200H",), Category.LIMIT_EXCEEDED),  # a sequence has run out
    **dict.fromkeys(("57014", "55P03", "25P03", "25P04", "57P05"), Category.TIMEOUT),
    **dict.fromkeys(("40P01", "40001"), Category.DEADLOCK),
    **dict.fromkeys(("42501", "25006"), Category.PERMISSION_DENIED),
    **dict.fromkeys(("57P01", "57P02", "57P03", "57P04", "53300", "3D000"),
    Category.CONNECTION_ERROR),
    **dict.fromkeys(("23505", "23P01"), Category.UNIQUE_VIOLATION),
    **dict.fromkeys(("23503", "23001"), Category.FK_VIOLATION),
    **dict.fromkeys(("23502",), Category.NOT_NULL_VIOLATION),
    **dict.fromkeys(("23514", "44000"), Category.CHECK_VIOLATION),
}  # fmt: skip

POSTGRES_CLASSES: Mapping[str, Category] = {
    "08": Category.CONNECTION_ERROR,
    "22": Category.TYPE_MISMATCH,
    "28": Category.CONNECTION_ERROR,
    "53": Category.LIMIT_EXCEEDED,
    "54": Category.LIMIT_EXCEEDED,
}
"""The first two digits of a SQLSTATE, for codes that are not listed."""

POSTGRES_ROUTINES: Sequence[tuple[str, re.Pattern[str], Category]] = [
    (state, re.compile(pattern), category)
    for state, pattern, category in (
        ("42703", "transformFromClauseItem", Category.JOIN_ERROR),  # the column of a USING
        # a FULL JOIN on an inequality
        ("0A000", "populate_joinrel_with_paths", Category.JOIN_ERROR),
        ("42809", "ParseFuncOrColumn|transform(Agg|Window).*", Category.AGGREGATION_ERROR),
        ("0A000", "ParseFuncOrColumn|transform(Agg|Window).*", Category.AGGREGATION_ERROR),
        ("42704", "transformWindow.*", Category.AGGREGATION_ERROR),
        ("42P19", "parseCheckAggregates", Category.AGGREGATION_ERROR),
        ("42704", "typenameType.*|parserOpenType|get_collation_oid|LookupCollation",
         Category.TYPE_MISMATCH),
        ("54000", "chr", Category.TYPE_MISMATCH),
        ("0A000", "RangeVarGet.*", Category.TABLE_NOT_FOUND),  # a name of three parts
        ("0A000", "heap_truncate_check_FKs", Category.FK_VIOLATION),
        ("22003",
         "(int|cash)\\d*_?(pl|mi|mul|um|abs|inc|div|sum|lcm|gcd).*|float_(over|under)flow_error",
         Category.UNKNOWN),
        # arithmetic: no value given
        ("22003", "d?(exp|pow).*|numeric_(fac|power|exp).*|make_result.*", Category.UNKNOWN),
    )
]  # fmt: skip
"""SQLSTATE, the function that raised it, and what both mean together, in any language."""

_MYSQL: Sequence[tuple[Category, str, tuple[int, ...]]] = (
    (Category.COLUMN_NOT_FOUND, "42S22", (1054, 1072, 1247)),
    (Category.TABLE_NOT_FOUND, "42S02", (1051, 1109, 1146, 1932, 4091, 4092)),
    (Category.TABLE_NOT_FOUND, "42000", (1008, 1049)),
    (Category.TABLE_NOT_FOUND, "HY000", (1356,)),
    (Category.JOIN_ERROR, "23000", (1052,)),
    (Category.JOIN_ERROR, "42000", (1066, 1120)),
    (Category.JOIN_ERROR, "HY000", (4004,)),
    (Category.AGGREGATION_ERROR, "42000", (1055, 1056, 1057, 1140, 1463)),
    (Category.AGGREGATION_ERROR, "HY000", (1111, 3028, 3029, 3030, *range(3579, 3600), *range(4009,
     4025), 4074)),
    (Category.SYNTAX_ERROR, "42000", (1064, 1065, 1103, 1110, 1149, 1166, 1221, 1234, 1239, 1248,
     1250, 1327)),
    (Category.SYNTAX_ERROR, "42S21", (1060,)),
    (Category.SYNTAX_ERROR, "21S01", (1058, 1136)),
    (Category.SYNTAX_ERROR, "21000", (1222, 1241)),
    (Category.SYNTAX_ERROR, "HY000", (1096, 1353, 3065, 4002, 4099, 4140)),
    (Category.TYPE_MISMATCH, "22007", (1292, 1366, 1918, 1921, 1978)),
    (Category.TYPE_MISMATCH, "22003", (1264, 1916, 1917)),
    (Category.TYPE_MISMATCH, "22001", (1406,)),
    (Category.TYPE_MISMATCH, "01000", (1265,)),
    (Category.TYPE_MISMATCH, "42000",
     (1067, 1106, 1107, 1115, 1139, 1231, 1232, 1253, 1305, 1318, 1425, 1426, 1582, 1583)),
    (Category.TYPE_MISMATCH, "HY000",
     (1108, 1128, 1210, 1267, 1270, 1271, 1273, 1367, 1411, 1416, 1630, 3140, 3141, 3143, 3146,
     *range(3685, 3699),
      *range(4035, 4047), 4078, 4079, 4101, 4103, 4104, 4107, 4161, 4162)),
    (Category.TIMEOUT, "70100", (1317, 1969)),
    (Category.TIMEOUT, "HY000", (1205, 3024, 3572)),
    (Category.DEADLOCK, "40001", (1213,)),
    (Category.DEADLOCK, "HY000", (1020, 3058)),
    (Category.DEADLOCK, "XA102", (1614,)),
    (Category.PERMISSION_DENIED, "42000", (1044, 1131, 1132, 1142, 1143, 1148, 1211, 1227, 1370,
     1410)),
    (Category.PERMISSION_DENIED, "25006", (1792,)),
    (Category.PERMISSION_DENIED, "HY000", (1036, 1095, 1099, 1290, 1298, 1419, 1836, 1979, 3554,
     3948, 4166)),
    (Category.CONNECTION_ERROR, "28000", (1045, 1698)),
    (Category.CONNECTION_ERROR, "HY000", (4151,)),
    (Category.CONNECTION_ERROR, "08S01",
     (1040, 1042, 1043, 1047, 1053, 1081, 1129, 1130, 1135, 1152, *range(1154, 1162), 1184, 1203,
     1251, 1927, 2055,
      4031)),
    (Category.UNIQUE_VIOLATION, "23000", (1022, 1062, 1169, 1557, 1586, 1761, 1762)),
    (Category.FK_VIOLATION, "23000", (1216, 1217, 1451, 1452)),
    (Category.FK_VIOLATION, "42000", (1701,)),
    (Category.FK_VIOLATION, "HY000", (3730,)),
    (Category.NOT_NULL_VIOLATION, "23000", (1048,)),
    (Category.NOT_NULL_VIOLATION, "22004", (1138, 1263)),
    (Category.NOT_NULL_VIOLATION, "HY000", (1364, 1423)),
    (Category.CHECK_VIOLATION, "23000", (4025,)),
    (Category.CHECK_VIOLATION, "HY000", (1369, 1526, 3819)),
    (Category.LIMIT_EXCEEDED, "42000", (1059, 1069, 1070, 1071, 1074, 1104, 1118, 1162, 1226)),
    (Category.LIMIT_EXCEEDED, "HY000",
     (1021, 1037, 1038, 1041, 1114, 1116, 1117, 1119, 1153, 1206, 1301, 1390, 1436, 1456, 1931,
     1967, 3636, 4070, 4084)),
    (Category.UNKNOWN, "45000", (1644,)),
    (Category.UNKNOWN, "22003", (1690,)),
    (Category.UNKNOWN, "22012", (1365,)),
)  # fmt: skip

MYSQL_CODES: Mapping[int, tuple[Category, str]] = {
    number: (category, state) for category, state, numbers in _MYSQL for number in numbers
}
"""Error number -> category and SQLSTATE: the drivers throw the server's SQLSTATE away."""
