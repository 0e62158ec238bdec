# ruff: noqa: ISC004 - long statements are written in pieces
"""Queries that are right as they stand, by world: the critic has nothing to say about any of
them.
"""

EHR = (
    "SELECT patient_id, name FROM patients WHERE status = 'active' ORDER BY name LIMIT 5",
    "SELECT p.* FROM patients AS p WHERE p.name LIKE 'A%'",
    'SELECT "p"."name" FROM "patients" "p" ORDER BY "p"."dob"',
    "SELECT Name, DOB FROM Patients WHERE Patient_ID = 1001",
    "SELECT main.patients.name FROM main.patients",
    "SELECT rowid, name FROM clinicians",
    "WITH RECURSIVE up(n) AS (SELECT patient_id FROM patients UNION SELECT n + 1 FROM up WHERE n < 5)"
    " SELECT n FROM up LIMIT 3",
    "SELECT status, count(*) AS n FROM patients GROUP BY status HAVING n > 1 ORDER BY n DESC",
    "SELECT status, count(*) FROM patients GROUP BY 1 ORDER BY 2",
    "SELECT substr(dob, 1, 4) AS year, count(*) FROM patients GROUP BY year",
    "SELECT p.patient_id, p.name, count(l.lab_id) FROM patients p LEFT JOIN labs l USING"
    " (patient_id) GROUP BY p.patient_id",
    "SELECT p.name, count(*) FROM patients p JOIN labs l ON l.patient_id = p.patient_id GROUP BY"
    " l.patient_id",
    "SELECT patient_id, taken_on, max(value) FROM labs WHERE test = 'HbA1c'",
    "SELECT name, (SELECT count(*) FROM labs l WHERE l.patient_id = p.patient_id) AS n FROM"
    " patients p ORDER BY n DESC",
    "SELECT name FROM patients p WHERE EXISTS (SELECT 1 FROM allergies a WHERE a.patient_id ="
    " p.patient_id)",
    "SELECT name FROM patients p WHERE (SELECT max(value) FROM labs WHERE patient_id ="
    " p.patient_id AND test = 'HbA1c') > 9",
    "SELECT l.test, l.value, t.unit FROM labs l NATURAL JOIN lab_tests t",
    "SELECT a.name, b.name FROM patients a, patients b WHERE a.dob = b.dob AND a.patient_id <"
    " b.patient_id",
    "SELECT c.name, d.name FROM clinicians c CROSS JOIN drug_classes d LIMIT 3",
    "SELECT a.name, b.name FROM patients a, patients b WHERE a.patient_id = 1001 AND b.patient_id"
    " = 1002",
    "SELECT p.name, m.top FROM patients p, (SELECT max(value) AS top FROM labs) m LIMIT 2",
    "SELECT d.name FROM drugs d, drug_classes c WHERE EXISTS (SELECT 1 FROM drug_class_members m"
    " WHERE m.drug_id = d.drug_id AND m.class_id = c.class_id)",
    "SELECT * FROM (drugs JOIN drug_class_members USING (drug_id)) JOIN drug_classes c USING"
    " (class_id) LIMIT 2",
    "WITH a AS (SELECT patient_id, count(*) AS n FROM labs GROUP BY patient_id), b AS (SELECT"
    " max(n) AS top FROM a)"
    " SELECT a.patient_id FROM a, b WHERE a.n = b.top",
    "WITH t(x, y) AS (SELECT patient_id, dob FROM patients) SELECT x, y FROM t WHERE y > '1980'",
    "WITH RECURSIVE days(d) AS (SELECT date('2026-03-01') UNION ALL"
    " SELECT date(d, '+1 day') FROM days"
    " WHERE d < '2026-03-07') SELECT days.d, count(f.followup_id) FROM days LEFT JOIN followups f"
    " ON f.due_by = d"
    " GROUP BY days.d",
    "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT sum(n)"
    " FROM c",
    "WITH two AS (SELECT n FROM one), one AS (SELECT 1 AS n) SELECT n FROM two",
    "SELECT patient_id, value, rank() OVER (PARTITION BY test ORDER BY value DESC) AS place FROM"
    " labs LIMIT 4",
    "SELECT patient_id, sum(value) OVER w, lag(value) OVER w FROM labs WINDOW w AS (PARTITION BY"
    " patient_id ORDER BY taken_on)",
    "SELECT * FROM (SELECT l.*, row_number() OVER (PARTITION BY patient_id ORDER BY taken_on DESC)"
    " AS rn FROM labs l)"
    " WHERE rn = 1",
    "SELECT test, count(*), sum(count(*)) OVER () FROM labs GROUP BY test",
    "SELECT name FROM drugs UNION SELECT synonym FROM drug_synonyms ORDER BY name LIMIT 3",
    "WITH x AS (SELECT 1 AS a) SELECT a FROM x UNION ALL SELECT a + 1 FROM x",
    "SELECT p.name, j.value FROM patients p, json_each('[1001, 1002]') AS j WHERE p.patient_id ="
    " j.value",
    "SELECT json_each.value FROM json_each('[1, 2]')",
    "SELECT json_group_array(name) FROM clinicians",
    "SELECT clinician_id, group_concat(name, ', ') FROM patients GROUP BY clinician_id",
    "SELECT total(value), count(*) FILTER (WHERE value > 9) FROM labs",
    "SELECT name AS n FROM patients WHERE n LIKE 'B%'",
    "SELECT name COLLATE NOCASE AS folded FROM patients ORDER BY folded COLLATE NOCASE LIMIT 2",
    "SELECT CAST(julianday('2026-03-02') - julianday(dob) AS INTEGER) / 365 AS age FROM patients"
    " ORDER BY age LIMIT 1",
    "SELECT patient_id FROM allergy_conflicts WHERE drug_id = 1 GROUP BY patient_id",
    "SELECT name FROM sqlite_schema WHERE type = 'table'",
    "SELECT * FROM patients INDEXED BY patients_by_name WHERE name_folded > 'm'",
    "SELECT current_date, CURRENT_TIMESTAMP, date('now')",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT column1 FROM (VALUES (1), (2))",
    "SELECT 1 + 1; -- the end",
    "/* what is there? */ SELECT min(dob), max(dob) FROM patients;",
    "SELECT p.name, max(v.recorded_at), v.heart_rate FROM patients p JOIN vitals v USING"
    " (patient_id) GROUP BY p.patient_id",
    "SELECT DISTINCT test FROM labs WHERE value BETWEEN 5 AND 7 OR test"
    " GLOB 'H*' ORDER BY test DESC",
    "SELECT count(*) OVER () AS n, name FROM clinicians",
    "SELECT name, count(*) FROM patients WHERE patient_id = 1001",
    "SELECT CASE p.sex WHEN 'female' THEN 'f' END, (SELECT q.name FROM clinicians q WHERE"
    " q.clinician_id ="
    " (SELECT r.clinician_id FROM patients r WHERE r.patient_id = p.patient_id)) FROM patients p"
    " LIMIT 2",
)

WRITES = (
    "UPDATE patients SET status = 'transferred', closed_on = '2026-03-01' WHERE patient_id = 1001"
    " RETURNING patient_id, name",
    "UPDATE labs SET value = round(value, 1) WHERE test = (SELECT test FROM lab_tests ORDER BY"
    " ref_high DESC LIMIT 1)",
    "UPDATE labs AS l SET value = t.ref_high FROM lab_tests t WHERE"
    " t.test = l.test AND l.value > 1000",
    "DELETE FROM alerts WHERE raised_at < date('now', '-1 year')",
    "DELETE FROM followups WHERE status = 'done' AND patient_id IN (SELECT patient_id FROM"
    " patients WHERE name LIKE 'A%')",
    "INSERT INTO alerts (patient_id, kind, raised_at) VALUES (1001, 'critical_heart_rate',"
    " CURRENT_TIMESTAMP)",
    "INSERT INTO alerts (patient_id, kind, raised_at) SELECT patient_id, 'critical_heart_rate',"
    " recorded_at FROM vitals"
    " WHERE heart_rate > 180",
    "INSERT INTO lab_tests VALUES ('x', 'mmol/l', 1, 2) ON CONFLICT (test) DO UPDATE SET unit ="
    " excluded.unit"
    " WHERE lab_tests.unit <> excluded.unit RETURNING *",
    "INSERT OR IGNORE INTO drug_indications (drug_id, code) SELECT drug_id, code FROM"
    " drug_indications",
    "REPLACE INTO lab_tests (test, unit, ref_low, ref_high) VALUES ('y', 'g/l', 1, 2)",
    "WITH old AS (SELECT alert_id FROM alerts WHERE raised_at < '2020') DELETE FROM alerts WHERE"
    " alert_id IN"
    " (SELECT alert_id FROM old)",
    "UPDATE clinicians SET name = name WHERE rowid = 1",
)
