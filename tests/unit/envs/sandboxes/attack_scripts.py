"""Hostile statements by engine, each tried as a reading and as a writing tool's SQL on every kind
of sandbox.

Those of ``REFUSED`` end as an error that has a category; those of ``HARMLESS`` may give what they
like. None of them changes a row, outstays its time, names a sandbox in an error, or is noticed by
whoever comes next. What only writes when it may (``WRITES``) is refused to a reading tool, and
exact in the diff of a writing one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_ROWS = "WITH RECURSIVE n(x) AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n) "

EMPTY = ("", ";", "--", "/*", "/* x")
"""No statement at all: an error to who reads."""

EVERYWHERE = (
    "\0", "SELECT 1\0", "SELECT 1\0; DELETE FROM logs", "SELECT '", 'SELECT "', "SELECT 1 +",
    ("SELECT 1; DELETE FROM logs"), ("SELECT 1;/**/DELETE FROM logs"), ("SELECT 1;/* a *//* b */DELETE FROM logs"),
    "SELECT 1;" + "/**/" * 100 + ("DELETE FROM logs"), ("SELECT 1; SELECT 2"), ("BEGIN; DELETE FROM logs; COMMIT"),
    ("/* SELECT */ COMMIT"), "-- SELECT\nCOMMIT", ";COMMIT", "\n\t\f COMMIT", "commit", "CoMmIt WORK", "ROLLBACK WORK",
    "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "SELECT " + "(" * 50_000 + "1" + ")" * 50_000,
    "SELECT " + "NOT " * 50_000 + "1", "SELECT " + "+".join(["1"] * 50_000),
    ("DROP TABLE logs"), ("ALTER TABLE logs ADD COLUMN x INTEGER"), ("CREATE TABLE x (a INTEGER)"), "CREATE VIEW x AS SELECT 1",
    ("CREATE INDEX x ON logs (line)"), ("CREATE TEMPORARY TABLE x (a INTEGER)"), "CREATE TABLE x AS SELECT * FROM logs",
    "CREATE TRIGGER t AFTER DELETE ON logs BEGIN SELECT 1; END", "ANALYZE", "EXPLAIN COMMIT",
    _ROWS + ("SELECT COUNT(*) FROM n"), _ROWS + ("SELECT MAX(x) FROM n"), _ROWS + ("SELECT COUNT(DISTINCT x) FROM n"),
    _ROWS + ("SELECT a.x FROM n a JOIN n b ON a.x = -b.x"), ("SELECT 1 FROM nowhere"), "SELECT nothing FROM logs", "SELEC 1",
    "INSERT INTO books VALUES (99, 'x', 999)",
)  # fmt: skip

REFUSED: Mapping[str, Sequence[str]] = {
    "sqlite": (
        ("PRAGMA writable_schema = 1"), ("PRAGMA journal_mode = WAL"), ("PRAGMA locking_mode = EXCLUSIVE"), "PRAGMA cache_size = 0",
        "PRAGMA integrity_check", "PRAGMA optimize", "PRAGMA wal_checkpoint", "PRAGMA shrink_memory", ("PRAGMA mmap_size = 0"),
        ("PRAGMA temp_store = 1"), ("PRAGMA secure_delete = 1"), ("PRAGMA recursive_triggers = 1"), "PRAGMA defer_foreign_keys = 1",
        ("PRAGMA ignore_check_constraints = 1"), ("PRAGMA legacy_alter_table = 1"), ("PRAGMA analysis_limit = 1"),
        ("PRAGMA automatic_index = 0"), ("PRAGMA busy_timeout = 1"), ("PRAGMA count_changes = 1"), "PRAGMA encoding = 'UTF-16'",
        "PRAGMA incremental_vacuum", ("PRAGMA page_size = 512"), ("PRAGMA read_uncommitted = 1"), ("PRAGMA threads = 8"),
        ("SELECT * FROM pragma_function_list"), ("SELECT * FROM pragma_module_list"), ("SELECT * FROM pragma_database_list"),
        "VACUUM", ("VACUUM main INTO 'x'"), ("ATTACH '' AS x"), ("ATTACH 'file:x?mode=memory' AS x"), "DETACH main", "REINDEX",
        "SELECT load_extension('x')", "SELECT fts3_tokenizer('x')", ("SELECT fts3_tokenizer('simple', x'00')"),
        "SELECT readfile('x')", ("SELECT writefile('x', 'y')"), "SELECT edit('x')", ("SELECT * FROM fsdir('.')"),
        ("SELECT * FROM zipfile('x')"), ("SELECT * FROM csv('x')"), ("SELECT sqlite_log(1, 'x')"), ("SELECT * FROM generate_series(1, 9)"),
        ("INSERT INTO sqlite_master VALUES (1,2,3,4,5)"), ("UPDATE sqlite_master SET sql = ''"), "DELETE FROM sqlite_schema",
        ("UPDATE sqlite_sequence SET seq = 99"), ("DELETE FROM sqlite_temp_master"), ("DELETE FROM shelved"),
        "SELECT hex(zeroblob(100000000))", ("SELECT printf('%.*c', 2000000000, 'x')"), ("SELECT printf('%2000000000d', 1)"),
        ("SELECT replace(hex(zeroblob(120000)), '0', 'xxxx')"), "SELECT randomblob(1000001)", "SELECT zeroblob(2147483647)",
        ("SELECT 'a' LIKE '") + "%a" * 1_000 + "'", ("SELECT 'a' GLOB '") + "*a" * 1_000 + "'", ("SELECT char(0xd800) || 1 FROM nix"),
        "SELECT json('" + "[" * 2_000 + "]" * 2_000 + "')", "SELECT " + ",".join(["1"] * 3_000), "SELECT ?32767", ("SELECT ?, :a"),
        " UNION ALL ".join(["SELECT 1"] * 600), "SELECT * FROM " + ",".join(f"logs t{n}" for n in range(70)),
        ("SELECT CAST(x'ff' AS TEXT)"), ("SELECT CAST(x'eda080' AS TEXT)"), "SELECT x'f'", "SELECT abs(-9223372036854775808)",
        ("SELECT * FROM sqlite_dbpage"), ("SELECT * FROM sqlite_stmt"), ("SELECT * FROM bytecode('SELECT 1')"),
        _ROWS + ("SELECT x FROM n ORDER BY -x"), _ROWS + ("SELECT group_concat(x) FROM n"), _ROWS + "SELECT json_group_array(x) FROM n",
        ("SELECT COUNT(*) FROM ") + ",".join(f"logs t{n}" for n in range(60)), ("SELECT group_concat(zeroblob(200000)) FROM logs"),
    ),
    "postgresql": (
        "/* */ COMMIT", "-- x\rCOMMIT", "/* /* */ SELECT */ COMMIT", "SELECT 1; COMMIT; BEGIN READ WRITE; DELETE FROM shelves", "END", "ABORT",
        "SET TRANSACTION READ WRITE", "SET default_transaction_read_only = off", "SET statement_timeout = 0",
        "SELECT set_config('transaction_read_only', 'off', false)", "RESET ALL", "SET ROLE postgres", "SET SESSION AUTHORIZATION postgres",
        "ALTER ROLE CURRENT_USER SET statement_timeout = 0", "ALTER ROLE CURRENT_USER PASSWORD 'x'", "COPY shelves TO PROGRAM 'true'",
        "COPY shelves TO STDOUT", "COPY shelves FROM STDIN", "SELECT lo_from_bytea(4712, '\\x00')",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity", "SELECT query FROM pg_stat_activity", "SELECT datname FROM pg_database",
        "SELECT datname FROM pg_stat_database_conflicts", "SELECT * FROM pg_stat_get_backend_idset() b, pg_stat_get_backend_pid(b)",
        "CREATE TEMP TABLE t (a int)", "SELECT 1 AS a INTO t", "PREPARE p AS SELECT 1", "EXECUTE envs_0", "DECLARE c CURSOR WITH HOLD FOR SELECT 1",
        "LOCK TABLE shelves", "SELECT secret FROM envs_guard.secret", 'SELECT envs_guard.put(\'guess\', \'{"rows": [], "counters": []}\')',
        "ALTER TABLE shelves DISABLE TRIGGER ALL", "GRANT postgres TO CURRENT_USER", "CREATE DATABASE x", "ALTER SYSTEM SET work_mem = 1", "VACUUM",
        "SELECT pg_sleep(60)", ("SELECT pg_sleep_for('1 hour')"), "SELECT pg_sleep_until('2099-01-01')",
        "SELECT COUNT(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b",
        ("SELECT 'x' ~ repeat('(a|b)*', 10000)"), ("SELECT repeat('x', 1100000000)"), ("SELECT repeat('[', 20000)::json"),
        ("SELECT array_fill(0, ARRAY[2147483647])"), ("SELECT lpad('x', 1073741824, 'y')"), "SELECT " + ",".join(["1"] * 3_000),
        "/**/" * 10_000 + "SELECT 1", "/*" * 10_000 + "*/" * 10_000 + "SELECT 1", "SELECT 1" + "/**/" * 10_000,
        ("SELECT set_config('statement_timeout', '0', false)"), ("SELECT set_config('role', 'postgres', false)"),
        ("UPDATE pg_settings SET setting = '0' WHERE name = 'statement_timeout'"), "SET LOCAL statement_timeout = 0", "RESET ROLE",
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"), "SET CONSTRAINTS ALL DEFERRED", "DISCARD ALL", "DEALLOCATE ALL",
        ("PREPARE TRANSACTION 'x'"), ("COMMIT PREPARED 'x'"), ("ROLLBACK AND CHAIN"), ("COMMIT AND CHAIN"), "START TRANSACTION",
        ("DO 'BEGIN COMMIT; END'"), ("DO $x$ BEGIN PERFORM 1; END $x$"), "EXECUTE p", ("DECLARE c CURSOR FOR SELECT 1"), "FETCH c",
        "MOVE c", "CLOSE ALL", "LISTEN a", "UNLISTEN *", "NOTIFY a", "LOCK logs", "LOAD 'x'", "CHECKPOINT", "CLUSTER", "TRUNCATE logs",
        ("COPY logs TO '/tmp/x'"), ("COPY logs FROM PROGRAM 'true'"), "COPY (SELECT 1) TO STDOUT", "IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c",
        ("SELECT 1 INTO x"), ("SELECT 1 INTO TEMP x"), ("EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1"), "WITH a AS (SELECT 1) SELECT 1 INTO x FROM a",
        "SELECT lo_create(0)", "SELECT lo_import('/etc/passwd')", ("SELECT lo_export(1, '/tmp/x')"), ("SELECT lo_put(1, 0, 'x')"),
        "SELECT lo_unlink(1)", ("SELECT lowrite(1, 'x')"), "SELECT pg_advisory_lock(1)", ("SELECT pg_try_advisory_xact_lock(1, 2)"),
        "SELECT pg_advisory_unlock_all()", ("SELECT pg_notify('a', 'b')"), "SELECT pg_export_snapshot()", "SELECT pg_reload_conf()",
        "SELECT pg_read_file('/etc/passwd')", "SELECT pg_read_binary_file('/etc/passwd')", "SELECT pg_ls_dir('/')", "SELECT pg_stat_file('/')",
        "SELECT pg_ls_logdir()", ("SELECT pg_current_logfile() FROM pg_ls_waldir()"), "SELECT pg_terminate_backend(1)",
        "SELECT pg_cancel_backend(1)", "SELECT pg_switch_wal()", "SELECT pg_create_restore_point('x')", "SELECT pg_stat_reset()",
        "SELECT pg_create_physical_replication_slot('x')", ("SELECT pg_logical_emit_message(true, 'a', 'b')"),
        "SELECT pg_replication_origin_create('x')", "SELECT pg_log_backend_memory_contexts(1)", "SELECT pg_promote()",
        ("SELECT query_to_xml('DELETE FROM logs RETURNING *', true, true, '')"), "SELECT table_to_xml('logs', true, true, '')",
        "SELECT database_to_xml(true, true, '')", "SELECT cursor_to_xml('c', 1, true, true, '')",
        "SELECT * FROM ts_stat('DELETE FROM logs RETURNING to_tsvector(line)')",
        ("SELECT ts_rewrite('a'::tsquery, 'DELETE FROM logs RETURNING ''a''::tsquery, ''b''::tsquery')"),
        ("SELECT * FROM pg_stat_activity"), ("SELECT * FROM pg_stat_get_activity(NULL)"), "SELECT pg_stat_get_backend_activity(1)",
        ("SELECT * FROM pg_stat_get_backend_idset()"), ("SELECT * FROM pg_locks"), ("SELECT * FROM pg_database"), ("SELECT * FROM pg_roles"),
        ("SELECT * FROM pg_user"), ("SELECT * FROM pg_shadow"), ("SELECT * FROM pg_authid"), ("SELECT * FROM pg_auth_members"),
        ("SELECT * FROM pg_stat_ssl"), ("SELECT * FROM pg_stat_database"), ("SELECT * FROM pg_stat_database_conflicts"),
        ("SELECT * FROM pg_prepared_xacts"), ("SELECT * FROM pg_hba_file_rules"), ("SELECT * FROM pg_file_settings"), ("SELECT * FROM pg_config"),
        ("SELECT * FROM pg_shdepend"), ("SELECT * FROM pg_shdescription"), ("SELECT * FROM pg_largeobject"), ("SELECT * FROM pg_statistic"),
        ("SELECT * FROM pg_user_mapping"), ("SELECT * FROM pg_subscription"), "SELECT current_setting('data_directory')", "SHOW hba_file",
        "SHOW config_file", "TABLE envs_guard.log", ("SELECT * FROM envs_guard.secret"), ("SELECT * FROM envs_guard.shape"),
        ("DELETE FROM envs_guard.log"), "SELECT envs_guard.note()", ("SELECT envs_guard.put('x', '{}')"),
        ("SELECT setval('logs_id_seq', 99)"), ("INSERT INTO logs_id_seq VALUES (1)"), ("UPDATE pg_proc SET prosrc = ''"),
        ("DELETE FROM pg_trigger"), ("ALTER TABLE logs DISABLE TRIGGER ALL"), ('DROP TRIGGER " envs_note" ON logs'),
        ("ALTER SEQUENCE logs_id_seq RESTART"), ("ALTER ROLE CURRENT_USER SUPERUSER"), ("GRANT ALL ON logs TO PUBLIC"), "REASSIGN OWNED BY a TO b",
        ("SECURITY LABEL ON TABLE logs IS 'x'"), ("COMMENT ON TABLE logs IS 'x'"), "REFRESH MATERIALIZED VIEW x", "CREATE EXTENSION dblink",
        ("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'"), "CREATE SCHEMA x", "CREATE ROLE x", "ALTER SYSTEM RESET ALL",
        "SELECT U&'\\0000'", "SELECT U&'\\D800'", "SELECT E'\\xff'", "SELECT chr(0)", ("SELECT convert_from('\\xff', 'UTF8')"), "SELECT $a$",
        "SELECT 1e131073::numeric", ("SELECT 1 / 0"), "SELECT nextval('nix')", ("SELECT CAST(current_database() AS int)"),
    ),
    "mysql": (
        "/* */ COMMIT", "-- x\nCOMMIT", "#x\nCOMMIT", "/*!999999 SELECT */ COMMIT", "SELECT 1; COMMIT", "BEGIN", "START TRANSACTION READ WRITE",
        "ROLLBACK", "SAVEPOINT x", "RELEASE SAVEPOINT envs_call", "ROLLBACK TO SAVEPOINT envs_call", "SET max_statement_time = 0",
        "SET STATEMENT max_statement_time = 0 FOR SELECT SLEEP(1)", "SET ROLE NONE", "SET PASSWORD = PASSWORD('x')", "SET GLOBAL general_log = 1",
        "SET foreign_key_checks = 0", "SET SESSION TRANSACTION READ WRITE", "FLUSH TABLES", "SHOW FULL PROCESSLIST", "SHOW ENGINE INNODB STATUS",
        "SELECT * INTO OUTFILE '/tmp/envs_out' FROM shelves", "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE logs",
        "LOAD DATA INFILE '/etc/hostname' INTO TABLE logs", "DO SLEEP(1)", "TRUNCATE logs", "ALTER TABLE shelves ADD x int",
        "CREATE TRIGGER t BEFORE INSERT ON shelves FOR EACH ROW SET NEW.label = 'x'", "CREATE DATABASE envs_x", "INSTALL SONAME 'ha_connect'",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "CREATE FUNCTION f() RETURNS int RETURN 1", "PURGE BINARY LOGS TO 'x'",
        "SELECT SLEEP(60)", ("SELECT IF(1, SLEEP(60), 1)"), ("SELECT BENCHMARK(2000000000, SHA2('x', 512))"), ("SELECT MASTER_GTID_WAIT('0-1-1', 100)"),
        ("SELECT MASTER_POS_WAIT('x', 4, 100)"), ("SELECT COUNT(*) FROM seq_1_to_100000000 a, seq_1_to_100000000 b"),
        ("SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c"),
        ("SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' REGEXP '^(a|a?)+$'"), ("SELECT REPEAT('x', 1000000000)"),
        ("SELECT LPAD('x', 1000000000, 'y')"), "SELECT SPACE(1000000000)", ("SELECT RPAD('x', 1000000000, 'y')"),
        ("SELECT CONCAT(REPEAT('x', 16000000), REPEAT('x', 16000000))"), ("SELECT GROUP_CONCAT(REPEAT('x', 1000)) FROM seq_1_to_10000"),
        "SELECT CONVERT(x'eda080' USING utf8mb3)", "SELECT _utf8mb4 x'ff'", "SELECT 1e308 * 10",
        ("SELECT GET_LOCK('a', 0)"), ("SELECT `get_lock`('a', 0)"), ("SELECT GET_LOCK /**/ ('a', 0)"), "SELECT RELEASE_ALL_LOCKS()",
        "SELECT IS_USED_LOCK('envs_sweep')", "SELECT IS_FREE_LOCK('a')", ("SELECT /*! GET_LOCK('a', 0) */"), "SELECT RELEASE_LOCK('a')",
        "SET @a = 1", ("SET SESSION sql_mode = ''"), ("SET NAMES latin1"), ("SET autocommit = 1"), "SET GLOBAL max_connections = 1",
        ("SET STATEMENT max_statement_time = 0 FOR SELECT SLEEP(9)"), "SET timestamp = 1", "SET insert_id = 5", "SET TRANSACTION READ WRITE",
        ("SET CHARACTER SET latin1"), ("SET DEFAULT ROLE NONE"), "USE test", "USE mysql", ("RESET QUERY CACHE"), "FLUSH STATUS", ("DO GET_LOCK('a', 1)"),
        "XA START 'a'", "XA RECOVER", ("XA COMMIT 'a' ONE PHASE"), ("LOCK TABLES logs WRITE"), ("LOCK TABLE logs READ"), "UNLOCK TABLES", "START SLAVE",
        ("HANDLER logs OPEN"), ("HANDLER logs READ FIRST"), ("PREPARE p FROM 'DELETE FROM logs'"), "EXECUTE p", "EXECUTE IMMEDIATE 'DELETE FROM logs'",
        ("DEALLOCATE PREPARE p"), ("LOAD DATA INFILE '/etc/passwd' INTO TABLE logs"), "LOAD XML INFILE 'x' INTO TABLE logs",
        ("SELECT * FROM logs INTO OUTFILE '/tmp/x'"), ("SELECT 1 INTO DUMPFILE '/tmp/x'"), "SELECT 1 /*!INTO OUTFILE '/tmp/x'*/", "SELECT 1 /*!; COMMIT*/",
        ("/*! COMMIT */"), ("/*!50000 DELETE FROM logs */"), ("/*M! COMMIT */"), ("/*M!100000 SELECT */ 1"), "SELECT 1 -- x\n; COMMIT", "# x\nCOMMIT",
        "KILL 1", ("KILL QUERY 1"), "SHUTDOWN", ("PURGE BINARY LOGS BEFORE NOW()"), "BINLOG 'x'", ("CHANGE MASTER TO MASTER_HOST = 'x'"), "HELP 'x'",
        "SHOW PROCESSLIST", "SHOW/**/PROCESSLIST", ("SHOW /*!FULL*/ PROCESSLIST"), "SHOW GRANTS", ("SHOW CREATE USER CURRENT_USER"),
        ("SHOW CREATE /*!USER*/ CURRENT_USER"), ("SHOW MASTER STATUS"), ("SHOW BINARY LOGS"), ("SHOW ENGINE INNODB MUTEX"), "SHOW SLAVE STATUS",
        ("SHOW CREATE DATABASE test"), ("SHOW CREATE TRIGGER envs_I0"), ("SHOW TABLES FROM mysql"), "SHOW RELAYLOG EVENTS", "SHOW EXPLAIN FOR 1",
        ("SELECT * FROM mysql.user"), ("SELECT * FROM mysql.global_priv"), ("SELECT * FROM test.x"), ("SELECT * FROM performance_schema.threads"),
        ("SELECT * FROM sys.processlist"), ("SELECT * FROM information_schema.innodb_trx"), ("SELECT * FROM information_schema.innodb_buffer_page"),
        ("DELETE FROM information_schema.tables"), ("UPDATE mysql.user SET Password = ''"), ("INSERT INTO mysql.func VALUES ('a', 0, 'b', 'c')"),
        ("CREATE USER x"), ("DROP USER root@localhost"), ("GRANT ALL ON *.* TO CURRENT_USER"), "REVOKE ALL ON *.* FROM CURRENT_USER",
        ("ALTER USER CURRENT_USER IDENTIFIED BY ''"), ("RENAME TABLE logs TO l"), ("TRUNCATE TABLE logs"), "DROP TRIGGER envs_D0", "DROP DATABASE test",
        ("CREATE PROCEDURE p() COMMIT"), ("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM logs"), "CREATE SEQUENCE s", "CREATE OR REPLACE VIEW shelved AS SELECT 1",
        ("OPTIMIZE TABLE logs"), ("REPAIR TABLE logs"), ("CHECK TABLE logs"), ("CHECKSUM TABLE logs"), ("CACHE INDEX logs IN a"), "ANALYZE TABLE logs",
        ("ANALYZE DELETE FROM logs"), ("ANALYZE FORMAT=JSON DELETE FROM logs"), ("EXPLAIN ANALYZE DELETE FROM logs"), "WITH a AS (SELECT 1) DELETE FROM logs",
        ("DELETE HISTORY FROM logs"), ("INSTALL PLUGIN a SONAME 'b'"), ("UNINSTALL SONAME 'a'"), ("BACKUP STAGE START"), "SIGNAL SQLSTATE '45000'", "GET DIAGNOSTICS @a = NUMBER",
        "CALL mysql.x()", "SELECT mysql.x()", ("BEGIN NOT ATOMIC DELETE FROM logs; COMMIT; END"), "COMMIT RELEASE", ("ROLLBACK AND CHAIN"),
    ),
}  # fmt: skip

DENIED: Mapping[str, Sequence[str]] = {
    "sqlite": (
        "PRAGMA query_only = 0", "PRAGMA query_only(0)", "PRAGMA main.query_only = 0", "PRAGMA hard_heap_limit = 1", "PRAGMA soft_heap_limit = 1",
        "PRAGMA foreign_keys = OFF", "PRAGMA writable_schema = ON", "PRAGMA journal_mode = OFF", "PRAGMA max_page_count = 4294967294",
        "PRAGMA schema_version = 1", "PRAGMA temp_store_directory = '/'", "PRAGMA user_version = 7", "PRAGMA trusted_schema = 1",
        "PRAGMA case_sensitive_like = 1", "PRAGMA database_list", "SELECT * FROM pragma_database_list", "SELECT * FROM pragma_compile_options",
        "SELECT * FROM pragma_query_only", "ATTACH ':memory:' AS other", "ATTACH DATABASE 'file:x?mode=memory&cache=shared' AS other", "DETACH main",
        "SELECT fts3_tokenizer('x', x'4141414141414141')", "SELECT fts3_tokenizer('simple')", "SELECT load_extension('x')",
        "SELECT LOAD_EXTENSION('x', 'y')", "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "END", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s",
        "/* x */ COMMIT", "EXPLAIN COMMIT", "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "CREATE TABLE x AS SELECT * FROM books",
        "CREATE VIEW x AS SELECT 1", "CREATE TEMP VIEW x AS SELECT 1", "CREATE INDEX x ON books (title)",
        "CREATE TRIGGER x AFTER INSERT ON books BEGIN DELETE FROM logs; END",
        "CREATE TEMP TRIGGER x AFTER INSERT ON main.books BEGIN DELETE FROM logs; END", "CREATE VIRTUAL TABLE x USING fts5(a)", "DROP TABLE books",
        "DROP VIEW shelved", "ALTER TABLE books ADD COLUMN x", "ALTER TABLE books RENAME TO people", "REINDEX", "ANALYZE",
        "UPDATE sqlite_sequence SET seq = 1000", "DELETE FROM sqlite_sequence",
    ),
    "postgresql": (
        "SET statement_timeout = 0", "SELECT set_config('statement_timeout', '0', true)", "SELECT lo_create(4711)", "DROP TABLE books",
        "SELECT pg_read_file('/etc/hostname')", "COPY books TO PROGRAM 'true'", "COPY books FROM STDIN", "SELECT datname FROM pg_database",
        "DO $$ BEGIN DELETE FROM books; END $$", "BEGIN", "COMMIT", "GRANT SELECT ON books TO PUBLIC", "CREATE TABLE t AS SELECT 1", "TRUNCATE TABLE books",
    ),
    "mysql": (
        "SET max_statement_time = 0", "SET STATEMENT max_statement_time = 0 FOR SELECT 1", "SHOW PROCESSLIST", "SHOW GRANTS", "KILL 1", "COMMIT",
        "SELECT title FROM books INTO OUTFILE 'synth_attack'", "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE shelves", "BEGIN", "DROP TABLE books",
        "/*! DELETE FROM books */", "SELECT User FROM mysql.user", "GRANT SELECT ON books TO PUBLIC", "CREATE TABLE t AS SELECT 1", "TRUNCATE TABLE books",
    ),
}  # fmt: skip
"""Of those that are refused, what a sandbox does not permit, whatever else there is to say."""

HARMLESS: Mapping[str, Sequence[str]] = {
    "sqlite": (
        ("EXPLAIN DELETE FROM logs"), ("EXPLAIN QUERY PLAN DELETE FROM logs"), ("SELECT * FROM sqlite_master"), "SELECT * FROM sqlite_sequence",
        "PRAGMA table_info(logs)", ("SELECT * FROM dbstat"), ("SELECT last_insert_rowid(), changes(), total_changes()"), "SELECT sqlite_version()", "SELECT char(0)",
        ("SELECT 9e999, -9e999, 9e999 - 9e999"), "SELECT jsonb(x'ffffffff')", ("SELECT round(1.5, 2147483647)"), ("SELECT substr('a', 1, 9223372036854775807)"),
        ("SELECT hex(zeroblob(100000)) LIKE '") + "%0" * 240 + "1'", ("SELECT hex(zeroblob(100000)) GLOB '") + "*0?" * 160 + "1'",
        "SELECT * FROM (" * 300 + "SELECT 1" + ")" * 300,
    ),
    "postgresql": (
        ("SELECT 'infinity'::date, '-infinity'::timestamptz"), ("SELECT '0044-03-15 BC'::date"), ("SELECT '24:00'::time, '1:00+15:59:59'::timetz"),
        ("SELECT 'NaN'::float8, 'Infinity'::numeric"), ("SELECT (repeat('[', 3000) || repeat(']', 3000))::jsonb"), ("SELECT repeat('9', 5000)::json"),
        ("SELECT interval '178000000 years'"), ("SELECT repeat('a', 40) || '!' ~ '^(a+)+$'"), "SELECT repeat('a', 90000) LIKE repeat('%a', 9000) || 'b'",
        ("SELECT xmlparse(document '<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>')"), "SELECT envs_guard.counters()",
        ("SELECT * FROM envs_guard.taken('x', 1000)"), "SELECT pg_stat_clear_snapshot()", "SELECT setseed(0)", "SELECT txid_current_if_assigned()",
        "SELECT current_query()", "SHOW ALL", ("SELECT * FROM pg_proc LIMIT 1"), ("EXPLAIN DELETE FROM logs"), "SELECT 'envs_guard.secret'::regclass::oid",
    ),
    "mysql": (
        ("SELECT @a := 5"), ("SELECT 1 INTO @a"), "SELECT LAST_INSERT_ID(77)", "SELECT LOAD_FILE('/etc/passwd')", ("EXPLAIN DELETE FROM logs"), "SHOW TRIGGERS",
        ("SELECT * FROM logs FOR UPDATE"), ("SELECT * FROM information_schema.processlist"), ("SHOW OPEN TABLES"), "SHOW WARNINGS", "SHOW PLUGINS",
        ("SELECT UNCOMPRESS(CONCAT(x'ffffff3f', COMPRESS('a')))"), ("SELECT JSON_EXTRACT(CONCAT(REPEAT('[', 9000), REPEAT(']', 9000)), '$**[0]')"),
        ("SELECT EXTRACTVALUE(CONCAT(REPEAT('<a>', 9000), REPEAT('</a>', 9000)), '//a//a')"), ("SELECT LENGTH(SFORMAT('{:>1000000000}', 'x'))"),
        ("SELECT CAST('0000-00-00' AS DATE), CAST('-838:59:59' AS TIME)"), "SELECT * FROM logs PROCEDURE ANALYSE()", "SELECT CHAR(255 USING utf8mb4)",
    ),
}  # fmt: skip

WRITES: Mapping[str, Sequence[str]] = {
    "sqlite": (
        ("REPLACE INTO shelves VALUES (1, 'high')"), ("INSERT OR IGNORE INTO shelves VALUES (1, 'x'), (7, 'y')"), "UPDATE OR REPLACE shelves SET label = 'x'",
        ("WITH a AS (SELECT 1) DELETE FROM logs RETURNING *"), "WITH a AS (SELECT 1) UPDATE logs SET line = 'x'",
        "WITH a AS (SELECT 'x') INSERT INTO logs (line) SELECT * FROM a", "INSERT INTO shelves VALUES (1, 'x') ON CONFLICT DO UPDATE SET label = 'y'", ("UPDATE logs SET rowid = rowid + 100"), "/* */ DELETE FROM shelves",
        ("INSERT INTO logs (id, line) VALUES (9223372036854775807, 'x')"), "INSERT INTO logs (line) VALUES (char(0) || 'x')",
    ),
    "postgresql": (
        ("WITH a AS (DELETE FROM logs RETURNING *) SELECT * FROM a"), "EXPLAIN ANALYZE DELETE FROM logs", "(((WITH a AS (DELETE FROM logs RETURNING 1) TABLE a)))",
        ("MERGE INTO logs USING shelves ON id = shelf_id WHEN MATCHED THEN DELETE"), "DELETE FROM ONLY shelves", "UPDATE shelves SET label = upper(label)",
        ("INSERT INTO logs (id, line) OVERRIDING SYSTEM VALUE VALUES (99, 'x')"), "INSERT INTO shelves VALUES (1, 'x') ON CONFLICT (shelf_id) DO UPDATE SET label = 'y'",
    ),
    "mysql": (
        ("DELETE FROM logs RETURNING *"), ("INSERT INTO logs (id, line) VALUES (9, 'x')"), "INSERT INTO logs VALUES (NULL, 'x')", "INSERT INTO logs SET line = 'x'",
        ("REPLACE INTO shelves VALUES (1, 'x')"), ("INSERT INTO shelves VALUES (1, 'z') ON DUPLICATE KEY UPDATE label = 'z'"), "(DELETE FROM shelves)",
        ("DELETE books, shelves FROM books JOIN shelves USING (shelf_id)"), "UPDATE books JOIN shelves USING (shelf_id) SET title = 'x', label = CONCAT(label, 'x')",
    ),
}  # fmt: skip
