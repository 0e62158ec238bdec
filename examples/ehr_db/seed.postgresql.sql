-- seed.sql, and the next key of each table: the seed gave its own.

\i seed.sql

SELECT setval(pg_get_serial_sequence('allergies', 'allergy_id'), COALESCE(MAX(allergy_id), 0) + 1, false) FROM allergies;
SELECT setval(pg_get_serial_sequence('diagnoses', 'diagnosis_id'), COALESCE(MAX(diagnosis_id), 0) + 1, false) FROM diagnoses;
SELECT setval(pg_get_serial_sequence('medications', 'medication_id'), COALESCE(MAX(medication_id), 0) + 1, false) FROM medications;
SELECT setval(pg_get_serial_sequence('vitals', 'vitals_id'), COALESCE(MAX(vitals_id), 0) + 1, false) FROM vitals;
SELECT setval(pg_get_serial_sequence('labs', 'lab_id'), COALESCE(MAX(lab_id), 0) + 1, false) FROM labs;
SELECT setval(pg_get_serial_sequence('followups', 'followup_id'), COALESCE(MAX(followup_id), 0) + 1, false) FROM followups;
SELECT setval(pg_get_serial_sequence('alerts', 'alert_id'), COALESCE(MAX(alert_id), 0) + 1, false) FROM alerts;
