-- A hospital: wards, doctors, patients, stays, treatments and what they cost.
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, floor INTEGER NOT NULL, beds INTEGER NOT NULL CHECK (beds BETWEEN 1 AND 40));
CREATE TABLE doctors (
  doctor_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  specialty TEXT NOT NULL,
  ward_id INTEGER NOT NULL REFERENCES wards (ward_id),
  chief_id INTEGER REFERENCES doctors (doctor_id)
);
CREATE TABLE patients (
  patient_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  date_of_birth TEXT NOT NULL,
  blood_group TEXT CHECK (blood_group IN ('A', 'B', 'AB', '0'))
);
CREATE TABLE stays (
  stay_id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
  ward_id INTEGER NOT NULL REFERENCES wards (ward_id),
  doctor_id INTEGER NOT NULL REFERENCES doctors (doctor_id),
  admitted_on TEXT NOT NULL,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 5),
  status TEXT NOT NULL CHECK (status IN ('planned', 'admitted', 'discharged'))
);
CREATE TABLE procedures (code TEXT PRIMARY KEY, title TEXT NOT NULL UNIQUE, price NUMERIC(8, 2) NOT NULL CHECK (price > 0), minutes INTEGER NOT NULL);
CREATE TABLE treatments (
  stay_id INTEGER NOT NULL REFERENCES stays (stay_id),
  code TEXT NOT NULL REFERENCES procedures (code),
  given_on TEXT NOT NULL,
  units INTEGER NOT NULL CHECK (units BETWEEN 1 AND 20),
  PRIMARY KEY (stay_id, code)
);
INSERT INTO wards (name, floor, beds) VALUES ('Cardiology', 2, 18), ('Surgery', 3, 24), ('Paediatrics', 1, 12), ('Oncology', 4, 16);
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
INSERT INTO doctors (first_name, last_name, specialty, ward_id, chief_id)
SELECT json_extract('["Noor","Viktor","Sanna","Idris"]', '$[' || (i % 4) || ']'),
       json_extract('["Abbott","Molina","Sorensen"]', '$[' || (i / 4) || ']'),
       json_extract('["heart","bones","children","tumours","lungs"]', '$[' || (i % 5) || ']'), 1 + i % 4, CASE WHEN i > 3 THEN 1 + i % 4 END
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 34)
INSERT INTO patients (first_name, last_name, date_of_birth, blood_group)
SELECT json_extract('["Mira","Oskar","Lea","Jonah","Tilda","Ravi","Ewa"]', '$[' || (i % 7) || ']'),
       json_extract('["Bauer","Costa","Duval","Eriksen","Fontaine"]', '$[' || (i / 7) || ']'),
       date('1941-02-03', '+' || (i * 811) || ' days'), json_extract('["A","B","AB","0",null]', '$[' || (i % 5) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO stays (patient_id, ward_id, doctor_id, admitted_on, priority, status)
SELECT 1 + (i * 11) % 35, 1 + i % 4, 1 + (i * 5) % 12, date('2026-01-02', '+' || i || ' days'), 1 + (i * 3) % 5,
       json_extract('["planned","admitted","discharged","admitted"]', '$[' || ((i * 7) % 4) || ']')
FROM n;
INSERT INTO procedures VALUES ('X10', 'chest x-ray', 84.5, 15), ('E22', 'electrocardiogram', 61, 20), ('B05', 'blood panel', 38.25, 10),
  ('M31', 'magnetic resonance scan', 412, 45), ('P40', 'physiotherapy', 55.75, 30), ('U12', 'ultrasound', 97, 25);
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119)
INSERT OR IGNORE INTO treatments
SELECT 1 + i % 60, json_extract('["X10","E22","B05","M31","P40","U12"]', '$[' || ((i * 7 + i / 60) % 6) || ']'), date('2026-01-04', '+' || (i % 60) || ' days'), 1 + (i * 5) % 6
FROM n;
