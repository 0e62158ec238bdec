"""What each engine's error codes and words mean, as :class:`~envs.types.ErrorCategory`.

Codes are tried first, the exact one before its class; words decide only where a code says too little. The codes
are those of sqlite.org/rescode.html, of PostgreSQL's appendix A, and of the servers' error message references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from envs.types import ErrorCategory as Category

Words = Sequence[tuple[re.Pattern[str], Category]]


def _words(*rules: tuple[str, Category]) -> Words:
    return [(re.compile(pattern, re.IGNORECASE), category) for pattern, category in rules]


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

SQLITE_WORDS = _words(
    (r"^no such column|has no column named|^unknown column", Category.COLUMN_NOT_FOUND),
    (r"^no such table|^no such view|^unknown database|^no such table-valued function", Category.TABLE_NOT_FOUND),
    (r"ambiguous column|cannot join using|natural join|joins? (are|is) not|^on clause|^duplicate with table",
     Category.JOIN_ERROR),
    ((r"aggregate|window function|^no such window|group by|having|^distinct is not supported|^frame |frame spec"
     r"|^cannot override|^filter (clause )?may|order by may not be used with"), Category.AGGREGATION_ERROR),
    ((r"^no such function|^wrong number of arguments|^no such collation|^malformed json|json path|^json cannot"
     r"|^unknown json|^datatype mismatch|^cannot store|must be a (positive|non-negative) integer|type .* (is )?not supported"
     r"|^error binding parameter"), Category.TYPE_MISMATCH),
    (r"^not authorized|is prohibited$|may not be (modified|dropped|altered|indexed)|^unsafe use of|readonly database",
     Category.PERMISSION_DENIED),
    (r"too complex|too large|too big|too many|stack overflow|^out of memory|is full$|parser stack",
     Category.LIMIT_EXCEEDED),
    (r"^interrupted|is locked", Category.TIMEOUT),
    (r"closed database|unable to open|not a database|disk i/o", Category.CONNECTION_ERROR),
    ((r"syntax error|^incomplete input|^unrecognized token|values? for \d+ columns?|columns? but \d+ values?"
     r"|^all values must|do not have the same number|sub-select returns|^row value misused|^no tables specified"
     r"|^(order by|limit) clause should|term out of range|does not match any column in the result"
     r"|one statement at a time|^circular reference|^recursive reference|^multiple (recursive )?references"
     r"|number of (parameters|bindings)|no value for the parameter|^near "), Category.SYNTAX_ERROR),
)  # fmt: skip

POSTGRES_CODES: Mapping[str, Category] = {
    **dict.fromkeys(("42703",), Category.COLUMN_NOT_FOUND),
    **dict.fromkeys(("42P01", "3F000"), Category.TABLE_NOT_FOUND),
    **dict.fromkeys(("42702", "42712"), Category.JOIN_ERROR),
    **dict.fromkeys(("42803", "42P20"), Category.AGGREGATION_ERROR),
    **dict.fromkeys(
        ("42601", "42602", "42622", "42939", "42P02", "42P10", "42P19", "42701", "42000"), Category.SYNTAX_ERROR
    ),
    **dict.fromkeys(
        ("42804", "42846", "42883", "42725", "42P18", "42P21", "42P22", "42P38", "22P02", "22P03", "22P05", "22001",
         "22003", "22005", "22007", "22008", "22009", "22018", "22019", "22021", "22023", "22025", "2200L", "2200M",
         "2200N", "2200S", "22030", "22031", "22032", "22033", "22034", "22035", "22036", "22037", "22038", "22039",
         "2203A", "2203B", "2203C", "2203D", "2203E", "2203F", "2203G", "2201B", "2202E"), Category.TYPE_MISMATCH,
    ),
    **dict.fromkeys(("57014", "55P03", "25P03", "25P04", "57P05"), Category.TIMEOUT),
    **dict.fromkeys(("40P01", "40001"), Category.DEADLOCK),
    **dict.fromkeys(("42501", "25006"), Category.PERMISSION_DENIED),
    **dict.fromkeys(("57P01", "57P02", "57P03", "53300", "3D000"), Category.CONNECTION_ERROR),
    **dict.fromkeys(("23505", "23P01"), Category.UNIQUE_VIOLATION),
    **dict.fromkeys(("23503", "23001"), Category.FK_VIOLATION),
    **dict.fromkeys(("23502",), Category.NOT_NULL_VIOLATION),
    **dict.fromkeys(("23514", "44000"), Category.CHECK_VIOLATION),
}  # fmt: skip

POSTGRES_CLASSES: Mapping[str, Category] = {
    "08": Category.CONNECTION_ERROR,
    "28": Category.CONNECTION_ERROR,
    "53": Category.LIMIT_EXCEEDED,
    "54": Category.LIMIT_EXCEEDED,
}
"""The first two digits of a SQLSTATE, for codes that are not listed."""

POSTGRES_WORDS = _words(
    (r"USING clause does not exist|JOIN/ON|JOIN/USING|common column name", Category.JOIN_ERROR),
    ((r"requires an OVER clause|is not an aggregate|aggregate function|window function|DISTINCT is not implemented"
     r"|WITHIN GROUP|GROUP BY|FILTER is not"), Category.AGGREGATION_ERROR),
    (r"^type \S+ does not exist|^collation .* does not exist", Category.TYPE_MISMATCH),
)  # fmt: skip
"""Asked before the codes: these distinctions are in the English words only, and harmless where they are absent."""

_MYSQL: Sequence[tuple[Category, str, tuple[int, ...]]] = (
    (Category.COLUMN_NOT_FOUND, "42S22", (1054, 1072, 1247)),
    (Category.TABLE_NOT_FOUND, "42S02", (1051, 1109, 1146)),
    (Category.TABLE_NOT_FOUND, "42000", (1049, 1008)),
    (Category.JOIN_ERROR, "23000", (1052,)),
    (Category.JOIN_ERROR, "42000", (1066, 1120)),
    (Category.AGGREGATION_ERROR, "42000", (1055, 1056, 1140)),
    (Category.AGGREGATION_ERROR, "HY000", (1111, *range(3579, 3600), *range(4015, 4025))),
    (Category.SYNTAX_ERROR, "42000", (1064, 1065, 1110, 1149, 1248, 1239)),
    (Category.SYNTAX_ERROR, "21000", (1136, 1222, 1241)),
    (Category.TYPE_MISMATCH, "22007", (1292, 1366)),
    (Category.TYPE_MISMATCH, "22003", (1264,)),
    (Category.TYPE_MISMATCH, "22001", (1406,)),
    (Category.TYPE_MISMATCH, "01000", (1265,)),
    (Category.TYPE_MISMATCH, "42000", (1305, 1582)),
    (Category.TYPE_MISMATCH, "HY000",
     (1210, 1267, 1270, 1271, 1367, 1411, 1416, 1630, 3140, 3141, 3143, 3146, 4038, 4041, 4042, 4078, 4079, 4161)),
    (Category.TIMEOUT, "70100", (1317, 1969)),
    (Category.TIMEOUT, "HY000", (1205, 3024, 3572)),
    (Category.DEADLOCK, "40001", (1213,)),
    (Category.DEADLOCK, "XA102", (1614,)),
    (Category.PERMISSION_DENIED, "42000", (1044, 1142, 1143, 1227, 1370, 1410)),
    (Category.PERMISSION_DENIED, "25006", (1792,)),
    (Category.PERMISSION_DENIED, "HY000", (1095, 1290, 1298, 1419, 1836)),
    (Category.CONNECTION_ERROR, "28000", (1045, 1698)),
    (Category.CONNECTION_ERROR, "08S01",
     (1040, 1042, 1043, 1053, 1129, 1130, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1927, 2002, 2003, 2005, 2006, 2013,
      2014, 2026, 2055, 4031)),
    (Category.UNIQUE_VIOLATION, "23000", (1022, 1062, 1169, 1557, 1586, 1761, 1762)),
    (Category.FK_VIOLATION, "23000", (1216, 1217, 1451, 1452)),
    (Category.NOT_NULL_VIOLATION, "23000", (1048, 1263)),
    (Category.NOT_NULL_VIOLATION, "HY000", (1364, 1423)),
    (Category.CHECK_VIOLATION, "23000", (4025,)),
    (Category.CHECK_VIOLATION, "HY000", (3819, 1369)),
    (Category.LIMIT_EXCEEDED, "HY000", (1021, 1037, 1038, 1041, 1114, 1116, 1117, 1118, 1153, 1226, 1301, 1104, 1436)),
    (Category.UNKNOWN, "45000", (1644,)),
    (Category.UNKNOWN, "22003", (1690,)),
    (Category.UNKNOWN, "22012", (1365,)),
)  # fmt: skip

MYSQL_CODES: Mapping[int, tuple[Category, str]] = {
    number: (category, state) for category, state, numbers in _MYSQL for number in numbers
}
"""Error number -> category and SQLSTATE: the drivers throw the server's SQLSTATE away."""
