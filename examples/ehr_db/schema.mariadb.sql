-- For MariaDB and MySQL: schema.sql, and keys that the database hands out, as SQLite does for an INTEGER PRIMARY KEY.

source schema.sql

SET foreign_key_checks = 0; -- columns that foreign keys point at cannot be modified otherwise
ALTER TABLE clinicians   MODIFY clinician_id  INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE patients     MODIFY patient_id    INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE drug_classes MODIFY class_id      INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE drugs        MODIFY drug_id       INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE allergies    MODIFY allergy_id    INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE diagnoses    MODIFY diagnosis_id  INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE medications  MODIFY medication_id INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE vitals       MODIFY vitals_id     INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE labs         MODIFY lab_id        INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE followups    MODIFY followup_id   INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE alerts       MODIFY alert_id      INTEGER NOT NULL AUTO_INCREMENT;
SET foreign_key_checks = 1;
