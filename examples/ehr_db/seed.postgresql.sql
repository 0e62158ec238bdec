-- For PostgreSQL: seed.sql, after which new keys go on behind those of the seed.

\i seed.sql

SELECT setval(pg_get_serial_sequence('clinicians', 'clinician_id'), MAX(clinician_id)) FROM clinicians;
SELECT setval(pg_get_serial_sequence('patients', 'patient_id'), MAX(patient_id)) FROM patients;
SELECT setval(pg_get_serial_sequence('drug_classes', 'class_id'), MAX(class_id)) FROM drug_classes;
SELECT setval(pg_get_serial_sequence('drugs', 'drug_id'), MAX(drug_id)) FROM drugs;
SELECT setval(pg_get_serial_sequence('allergies', 'allergy_id'), MAX(allergy_id)) FROM allergies;
SELECT setval(pg_get_serial_sequence('diagnoses', 'diagnosis_id'), MAX(diagnosis_id)) FROM diagnoses;
SELECT setval(pg_get_serial_sequence('medications', 'medication_id'), MAX(medication_id)) FROM medications;
SELECT setval(pg_get_serial_sequence('vitals', 'vitals_id'), MAX(vitals_id)) FROM vitals;
SELECT setval(pg_get_serial_sequence('labs', 'lab_id'), MAX(lab_id)) FROM labs;
SELECT setval(pg_get_serial_sequence('followups', 'followup_id'), MAX(followup_id)) FROM followups;
SELECT setval(pg_get_serial_sequence('alerts', 'alert_id'), MAX(alert_id)) FROM alerts;
