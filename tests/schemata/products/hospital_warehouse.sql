-- A research warehouse of a hospital: numbered concepts, events of persons, values that are numbers or words in one column,
-- years, months and days apart, some tables without rows, and keys that are declared for few of them.
CREATE TABLE vocabulary (vocabulary_id VARCHAR(20) PRIMARY KEY, vocabulary_name VARCHAR(255) NOT NULL, vocabulary_version VARCHAR(255), vocabulary_concept_id INTEGER NOT NULL);
CREATE TABLE domain (domain_id VARCHAR(20) PRIMARY KEY, domain_name VARCHAR(255) NOT NULL, domain_concept_id INTEGER NOT NULL);
CREATE TABLE concept (
  concept_id INTEGER NOT NULL PRIMARY KEY, concept_name VARCHAR(255) NOT NULL, domain_id VARCHAR(20) NOT NULL REFERENCES domain, vocabulary_id VARCHAR(20) NOT NULL REFERENCES vocabulary, concept_class_id VARCHAR(20) NOT NULL,
  standard_concept VARCHAR(1), concept_code VARCHAR(50) NOT NULL, valid_start_date DATE NOT NULL, valid_end_date DATE NOT NULL, invalid_reason VARCHAR(1));
CREATE TABLE concept_relationship (concept_id_1 INTEGER NOT NULL REFERENCES concept, concept_id_2 INTEGER NOT NULL REFERENCES concept, relationship_id VARCHAR(20) NOT NULL, valid_start_date DATE NOT NULL, PRIMARY KEY (concept_id_1, concept_id_2, relationship_id));
CREATE TABLE concept_synonym (concept_id INTEGER NOT NULL REFERENCES concept, concept_synonym_name VARCHAR(1000) NOT NULL, language_concept_id INTEGER NOT NULL);
CREATE TABLE location (location_id INTEGER PRIMARY KEY, address_1 VARCHAR(50), city VARCHAR(50), state VARCHAR(2), zip VARCHAR(9), county VARCHAR(20), location_source_value VARCHAR(50), latitude NUMERIC, longitude NUMERIC);
CREATE TABLE care_site (care_site_id INTEGER PRIMARY KEY, care_site_name VARCHAR(255), place_of_service_concept_id INTEGER REFERENCES concept, location_id INTEGER REFERENCES location);
CREATE TABLE provider (provider_id INTEGER PRIMARY KEY, provider_name VARCHAR(255), npi VARCHAR(20), dea VARCHAR(20), specialty_concept_id INTEGER REFERENCES concept, care_site_id INTEGER REFERENCES care_site, year_of_birth INTEGER);
CREATE TABLE person (
  person_id INTEGER PRIMARY KEY, gender_concept_id INTEGER NOT NULL REFERENCES concept, year_of_birth INTEGER NOT NULL, month_of_birth INTEGER, day_of_birth INTEGER, birth_datetime TIMESTAMP,
  race_concept_id INTEGER, location_id INTEGER REFERENCES location, provider_id INTEGER REFERENCES provider, care_site_id INTEGER REFERENCES care_site, person_source_value VARCHAR(50));
CREATE TABLE observation_period (observation_period_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES person, observation_period_start_date DATE NOT NULL, observation_period_end_date DATE NOT NULL);
CREATE TABLE visit_occurrence (visit_occurrence_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES person, visit_concept_id INTEGER NOT NULL REFERENCES concept, visit_start_date DATE NOT NULL, visit_end_date DATE NOT NULL, provider_id INTEGER REFERENCES provider, care_site_id INTEGER, preceding_visit_occurrence_id INTEGER REFERENCES visit_occurrence);
CREATE TABLE condition_occurrence (condition_occurrence_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES person, condition_concept_id INTEGER NOT NULL REFERENCES concept, condition_start_date DATE NOT NULL, condition_end_date DATE, stop_reason VARCHAR(20), visit_occurrence_id INTEGER REFERENCES visit_occurrence);
CREATE TABLE drug_exposure (drug_exposure_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES person, drug_concept_id INTEGER NOT NULL REFERENCES concept, drug_exposure_start_date DATE NOT NULL, drug_exposure_end_date DATE NOT NULL, refills INTEGER, quantity NUMERIC, days_supply INTEGER, sig TEXT, lot_number VARCHAR(50));
CREATE TABLE measurement (measurement_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES person, measurement_concept_id INTEGER NOT NULL REFERENCES concept, measurement_date DATE NOT NULL, measurement_time VARCHAR(10), value_as_number NUMERIC, value_as_concept_id INTEGER, range_low NUMERIC, range_high NUMERIC, value_source_value VARCHAR(50));
CREATE TABLE death (person_id INTEGER NOT NULL PRIMARY KEY REFERENCES person, death_date DATE NOT NULL, cause_concept_id INTEGER);
CREATE TABLE note (note_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES person, note_date DATE NOT NULL, note_title VARCHAR(250), note_text TEXT NOT NULL);
CREATE TABLE note_nlp (note_nlp_id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL, section_concept_id INTEGER, snippet VARCHAR(250), "offset" VARCHAR(50), lexical_variant VARCHAR(250) NOT NULL, nlp_date DATE NOT NULL);
CREATE TABLE cohort (cohort_definition_id INTEGER NOT NULL, subject_id INTEGER NOT NULL, cohort_start_date DATE NOT NULL, cohort_end_date DATE NOT NULL);
CREATE TABLE cdm_source (cdm_source_name VARCHAR(255) NOT NULL, cdm_holder VARCHAR(255), source_release_date DATE, cdm_version VARCHAR(10));
INSERT INTO vocabulary VALUES ('Gender', 'Genders', NULL, 1), ('Clinical', 'Clinical terms', '2025', 2), ('Drugs', 'Drugs', '2025', 3);
INSERT INTO domain VALUES ('Gender', 'Gender', 2), ('Condition', 'Condition', 19), ('Drug', 'Drug', 13), ('Measurement', 'Measurement', 21), ('Visit', 'Visit', 8);
INSERT INTO concept VALUES (0, 'No matching concept', 'Visit', 'Clinical', 'Undefined', NULL, 'None', '1970-01-01', '2099-12-31', NULL),
  (8507, 'MALE', 'Gender', 'Gender', 'Gender', 'S', 'M', '1970-01-01', '2099-12-31', NULL), (8532, 'FEMALE', 'Gender', 'Gender', 'Gender', 'S', 'F', '1970-01-01', '2099-12-31', NULL),
  (9201, 'Inpatient visit', 'Visit', 'Clinical', 'Visit', 'S', 'IP', '1970-01-01', '2099-12-31', NULL), (9202, 'Outpatient visit', 'Visit', 'Clinical', 'Visit', 'S', 'OP', '1970-01-01', '2099-12-31', NULL),
  (40481087, 'Viral sinusitis', 'Condition', 'Clinical', 'Finding', 'S', '444814009', '2009-01-31', '2099-12-31', NULL), (4112343, 'Acute pharyngitis', 'Condition', 'Clinical', 'Finding', 'S', '195662009', '2009-01-31', '2099-12-31', NULL),
  (1127078, 'Paracetamol 500 mg', 'Drug', 'Drugs', 'Drug', 'S', '313782', '1970-01-01', '2099-12-31', NULL), (3004249, 'Systolic blood pressure', 'Measurement', 'Clinical', 'Lab', 'S', '8480-6', '1970-01-01', '2099-12-31', NULL), (3025315, 'Body weight', 'Measurement', 'Clinical', 'Lab', 'S', '29463-7', '1970-01-01', '2099-12-31', NULL);
INSERT INTO concept_relationship VALUES (40481087, 4112343, 'Is a', '2009-01-31'), (4112343, 40481087, 'Subsumes', '2009-01-31');
INSERT INTO concept_synonym VALUES (8507, 'Männlich', 4182504), (8507, 'Mâle', 4180190), (8532, '女性', 4181524);
INSERT INTO location VALUES (1, '1 Elm Road', 'Bernal', 'BN', '00123', NULL, 'src 1', 46.9, 7.4), (2, NULL, 'Porto', NULL, '', '', 'src 2', NULL, NULL);
INSERT INTO care_site VALUES (1, 'Main house', 9201, 1), (2, 'Day clinic', 9202, 2);
INSERT INTO provider VALUES (1, 'Dr. Ida Kern', '123', NULL, NULL, 1, 1970), (2, 'Dr. Bo Lind', NULL, NULL, NULL, 2, 0), (3, NULL, NULL, NULL, NULL, 2, NULL);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
INSERT INTO person SELECT i, CASE WHEN i % 2 THEN 8507 ELSE 8532 END, 1940 + i, CASE WHEN i % 3 THEN i % 12 + 1 END, CASE WHEN i % 3 THEN i END, NULL, 0, 1 + i % 2, 1 + i % 3, 1 + i % 2, lower(hex(i * 99991)) FROM n;
INSERT INTO observation_period SELECT person_id, person_id, '2020-01-01', '2025-12-31' FROM person;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO visit_occurrence SELECT i, 1 + i % 24, 9201 + i % 2, date('2025-01-01', '+' || i || ' days'), date('2025-01-03', '+' || i || ' days'), 1 + i % 3, 1 + i % 2, CASE WHEN i > 24 THEN i - 24 END FROM n;
INSERT INTO condition_occurrence SELECT visit_occurrence_id, person_id, CASE WHEN visit_occurrence_id % 3 THEN 40481087 ELSE 4112343 END, visit_start_date, CASE WHEN visit_occurrence_id % 4 THEN visit_end_date END, NULL, visit_occurrence_id FROM visit_occurrence;
INSERT INTO drug_exposure SELECT visit_occurrence_id, person_id, 1127078, visit_start_date, visit_end_date, 0, CASE WHEN visit_occurrence_id % 7 THEN 10.5 ELSE 'n/a' END, 5, '1 tab q6h', NULL FROM visit_occurrence WHERE visit_occurrence_id % 2;
INSERT INTO measurement SELECT visit_occurrence_id, person_id, CASE WHEN visit_occurrence_id % 2 THEN 3004249 ELSE 3025315 END, visit_start_date, CASE WHEN visit_occurrence_id % 5 THEN '08:30' ELSE '25:00' END, CASE WHEN visit_occurrence_id % 6 THEN 60 + visit_occurrence_id ELSE '<30' END, NULL, NULL, NULL, 'raw ' || visit_occurrence_id FROM visit_occurrence;
INSERT INTO death VALUES (3, '2025-11-11', NULL), (9, '0000-00-00', NULL);
INSERT INTO note SELECT person_id, person_id, '2025-02-0' || (1 + person_id % 9), 'Letter', 'Seen today. {stable} 100% of $dose' || char(10) || 'Signed.' FROM person WHERE person_id < 8;
INSERT INTO cdm_source VALUES ('Own cases', 'Hospital', '2025-12-31', 'v5.4');
