-- An outpatient practice: patients and their charts, the formulary, and the recall desk.
--
-- Plain SQL, so that one file serves several engines. Dates and instants are ISO 8601 text
-- (YYYY-MM-DD, YYYY-MM-DD HH:MM:SS, UTC): they sort as they read, and every driver gives them back alike.
-- Truth values are 0 and 1. Names of drugs, classes and synonyms are stored folded (lower case, single
-- blanks, no accents); tools fold what they are given before they compare.

CREATE TABLE clinicians (
    clinician_id INTEGER PRIMARY KEY,
    name         VARCHAR(120) NOT NULL,
    name_folded  VARCHAR(120) NOT NULL,
    role         VARCHAR(20)  NOT NULL,
    CONSTRAINT clinicians_name_unique UNIQUE (name),
    CONSTRAINT clinicians_role CHECK (role IN ('physician', 'nurse practitioner', 'pharmacist'))
);

CREATE TABLE patients (
    patient_id  INTEGER PRIMARY KEY,
    mrn         VARCHAR(12)  NOT NULL,
    name        VARCHAR(120) NOT NULL,
    name_folded VARCHAR(120) NOT NULL,
    sex         VARCHAR(6)   NOT NULL,
    dob         VARCHAR(10)  NOT NULL,
    status      VARCHAR(12)  NOT NULL DEFAULT 'active',
    closed_on   VARCHAR(10),
    clinician_id INTEGER     NOT NULL,
    CONSTRAINT patients_mrn_unique UNIQUE (mrn),
    CONSTRAINT patients_clinician FOREIGN KEY (clinician_id) REFERENCES clinicians (clinician_id),
    CONSTRAINT patients_sex CHECK (sex IN ('female', 'male')),
    CONSTRAINT patients_dob CHECK (dob LIKE '____-__-__'),
    CONSTRAINT patients_status CHECK (status IN ('active', 'transferred', 'deceased')),
    CONSTRAINT patients_closed CHECK ((status = 'active' AND closed_on IS NULL)
                                   OR (status <> 'active' AND closed_on LIKE '____-__-__'))
);

CREATE INDEX patients_by_name ON patients (name_folded);

-- The formulary ---------------------------------------------------------------------------------------

-- cross_reactive: whoever reacted to one member is taken to react to all of them.
CREATE TABLE drug_classes (
    class_id       INTEGER PRIMARY KEY,
    name           VARCHAR(60) NOT NULL,
    cross_reactive INTEGER     NOT NULL,
    CONSTRAINT drug_classes_name_unique UNIQUE (name),
    CONSTRAINT drug_classes_cross_reactive CHECK (cross_reactive IN (0, 1))
);

CREATE TABLE drugs (
    drug_id      INTEGER PRIMARY KEY,
    name         VARCHAR(60)      NOT NULL,
    max_daily_mg DOUBLE PRECISION NOT NULL,
    controlled   INTEGER          NOT NULL DEFAULT 0,
    CONSTRAINT drugs_name_unique UNIQUE (name),
    CONSTRAINT drugs_max_daily CHECK (max_daily_mg > 0),
    CONSTRAINT drugs_controlled CHECK (controlled IN (0, 1))
);

CREATE TABLE drug_class_members (
    drug_id  INTEGER NOT NULL,
    class_id INTEGER NOT NULL,
    CONSTRAINT drug_class_members_key PRIMARY KEY (drug_id, class_id),
    CONSTRAINT drug_class_members_drug FOREIGN KEY (drug_id) REFERENCES drugs (drug_id),
    CONSTRAINT drug_class_members_class FOREIGN KEY (class_id) REFERENCES drug_classes (class_id)
);

-- Brand names, other generic names and everyday words for a drug or for a whole class.
CREATE TABLE drug_synonyms (
    synonym  VARCHAR(60) NOT NULL,
    drug_id  INTEGER,
    class_id INTEGER,
    CONSTRAINT drug_synonyms_key PRIMARY KEY (synonym),
    CONSTRAINT drug_synonyms_drug FOREIGN KEY (drug_id) REFERENCES drugs (drug_id),
    CONSTRAINT drug_synonyms_class FOREIGN KEY (class_id) REFERENCES drug_classes (class_id),
    CONSTRAINT drug_synonyms_one CHECK ((drug_id IS NULL AND class_id IS NOT NULL)
                                     OR (drug_id IS NOT NULL AND class_id IS NULL))
);

CREATE TABLE icd10_codes (
    code  VARCHAR(8)   NOT NULL,
    title VARCHAR(160) NOT NULL,
    CONSTRAINT icd10_codes_key PRIMARY KEY (code)
);

CREATE TABLE drug_indications (
    drug_id INTEGER    NOT NULL,
    code    VARCHAR(8) NOT NULL,
    CONSTRAINT drug_indications_key PRIMARY KEY (drug_id, code),
    CONSTRAINT drug_indications_drug FOREIGN KEY (drug_id) REFERENCES drugs (drug_id),
    CONSTRAINT drug_indications_code FOREIGN KEY (code) REFERENCES icd10_codes (code)
);

-- The chart -------------------------------------------------------------------------------------------

-- substance is folded. A drug or a class of the formulary is linked as well; latex or peanut has neither.
CREATE TABLE allergies (
    allergy_id  INTEGER PRIMARY KEY,
    patient_id  INTEGER     NOT NULL,
    substance   VARCHAR(80) NOT NULL,
    drug_id     INTEGER,
    class_id    INTEGER,
    reaction    VARCHAR(20) NOT NULL,
    severity    VARCHAR(8)  NOT NULL,
    recorded_on VARCHAR(10) NOT NULL,
    CONSTRAINT allergies_once UNIQUE (patient_id, substance),
    CONSTRAINT allergies_patient FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
    CONSTRAINT allergies_drug FOREIGN KEY (drug_id) REFERENCES drugs (drug_id),
    CONSTRAINT allergies_class FOREIGN KEY (class_id) REFERENCES drug_classes (class_id),
    CONSTRAINT allergies_one CHECK (drug_id IS NULL OR class_id IS NULL),
    CONSTRAINT allergies_reaction CHECK (reaction IN ('rash', 'hives', 'angioedema', 'anaphylaxis',
                                                      'nausea', 'cough', 'bronchospasm', 'unknown')),
    CONSTRAINT allergies_severity CHECK (severity IN ('mild', 'moderate', 'severe'))
);

CREATE TABLE diagnoses (
    diagnosis_id INTEGER PRIMARY KEY,
    patient_id   INTEGER     NOT NULL,
    code         VARCHAR(8)  NOT NULL,
    status       VARCHAR(8)  NOT NULL DEFAULT 'active',
    onset_on     VARCHAR(10) NOT NULL,
    resolved_on  VARCHAR(10),
    CONSTRAINT diagnoses_patient FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
    CONSTRAINT diagnoses_code FOREIGN KEY (code) REFERENCES icd10_codes (code),
    CONSTRAINT diagnoses_status CHECK ((status = 'active' AND resolved_on IS NULL)
                                    OR (status = 'resolved' AND resolved_on >= onset_on))
);

CREATE INDEX diagnoses_by_patient ON diagnoses (patient_id);

-- dose_mg is one dose; the daily dose is dose_mg * times_per_day.
CREATE TABLE medications (
    medication_id INTEGER PRIMARY KEY,
    patient_id    INTEGER          NOT NULL,
    drug_id       INTEGER          NOT NULL,
    dose_mg       DOUBLE PRECISION NOT NULL,
    times_per_day INTEGER          NOT NULL,
    status        VARCHAR(8)       NOT NULL DEFAULT 'active',
    started_on    VARCHAR(10)      NOT NULL,
    stopped_on    VARCHAR(10),
    stop_reason   VARCHAR(20),
    CONSTRAINT medications_patient FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
    CONSTRAINT medications_drug FOREIGN KEY (drug_id) REFERENCES drugs (drug_id),
    CONSTRAINT medications_dose CHECK (dose_mg > 0),
    CONSTRAINT medications_times CHECK (times_per_day BETWEEN 1 AND 12),
    CONSTRAINT medications_reason CHECK (stop_reason IN ('adverse_effect', 'course_completed', 'ineffective',
                                                         'no_longer_indicated', 'replaced', 'patient_declined')),
    CONSTRAINT medications_status CHECK ((status = 'active' AND stopped_on IS NULL AND stop_reason IS NULL)
                                      OR (status = 'stopped' AND stopped_on >= started_on AND stop_reason IS NOT NULL))
);

CREATE INDEX medications_by_patient ON medications (patient_id);

CREATE TABLE vitals (
    vitals_id     INTEGER PRIMARY KEY,
    patient_id    INTEGER     NOT NULL,
    recorded_at   VARCHAR(19) NOT NULL,
    heart_rate    INTEGER,
    systolic      INTEGER,
    diastolic     INTEGER,
    temperature_c DOUBLE PRECISION,
    spo2          INTEGER,
    weight_kg     DOUBLE PRECISION,
    CONSTRAINT vitals_patient FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
    CONSTRAINT vitals_heart_rate CHECK (heart_rate BETWEEN 20 AND 300),
    CONSTRAINT vitals_systolic CHECK (systolic BETWEEN 40 AND 300),
    CONSTRAINT vitals_diastolic CHECK (diastolic BETWEEN 20 AND 200),
    CONSTRAINT vitals_pressure CHECK (systolic > diastolic),
    CONSTRAINT vitals_temperature CHECK (temperature_c BETWEEN 25 AND 45),
    CONSTRAINT vitals_spo2 CHECK (spo2 BETWEEN 50 AND 100),
    CONSTRAINT vitals_weight CHECK (weight_kg BETWEEN 0.3 AND 400)
);

CREATE INDEX vitals_by_patient ON vitals (patient_id, recorded_at);

CREATE TABLE lab_tests (
    test     VARCHAR(20) NOT NULL,
    unit     VARCHAR(10) NOT NULL,
    ref_low  DOUBLE PRECISION NOT NULL,
    ref_high DOUBLE PRECISION NOT NULL,
    CONSTRAINT lab_tests_key PRIMARY KEY (test),
    CONSTRAINT lab_tests_range CHECK (ref_low < ref_high)
);

CREATE TABLE labs (
    lab_id     INTEGER PRIMARY KEY,
    patient_id INTEGER          NOT NULL,
    test       VARCHAR(20)      NOT NULL,
    value      DOUBLE PRECISION NOT NULL,
    taken_on   VARCHAR(10)      NOT NULL,
    CONSTRAINT labs_once UNIQUE (patient_id, test, taken_on),
    CONSTRAINT labs_patient FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
    CONSTRAINT labs_test FOREIGN KEY (test) REFERENCES lab_tests (test)
);

-- The desk --------------------------------------------------------------------------------------------

CREATE TABLE followups (
    followup_id  INTEGER PRIMARY KEY,
    patient_id   INTEGER     NOT NULL,
    clinician_id INTEGER     NOT NULL,
    reason       VARCHAR(20) NOT NULL,
    due_by       VARCHAR(10) NOT NULL,
    status       VARCHAR(5)  NOT NULL DEFAULT 'open',
    created_at   VARCHAR(19) NOT NULL,
    CONSTRAINT followups_patient FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
    CONSTRAINT followups_clinician FOREIGN KEY (clinician_id) REFERENCES clinicians (clinician_id),
    CONSTRAINT followups_reason CHECK (reason IN ('lab_result', 'medication_review', 'blood_pressure', 'symptoms')),
    CONSTRAINT followups_status CHECK (status IN ('open', 'done'))
);

CREATE INDEX followups_by_patient ON followups (patient_id);

CREATE TABLE alerts (
    alert_id   INTEGER PRIMARY KEY,
    patient_id INTEGER     NOT NULL,
    kind       VARCHAR(30) NOT NULL,
    raised_at  VARCHAR(19) NOT NULL,
    CONSTRAINT alerts_patient FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
    CONSTRAINT alerts_kind CHECK (kind IN ('critical_blood_pressure', 'critical_heart_rate',
                                           'critical_oxygen_saturation'))
);

-- Views -----------------------------------------------------------------------------------------------

-- Which drug stands against which recorded allergy, and through what: the drug itself, a class that is
-- recorded as the allergy, or a cross-reactive class that the drug shares with the recorded drug.
CREATE VIEW allergy_conflicts AS
SELECT a.patient_id AS patient_id, a.drug_id AS drug_id, a.substance AS substance
FROM allergies a
WHERE a.drug_id IS NOT NULL
UNION
SELECT a.patient_id, m.drug_id, a.substance
FROM allergies a
JOIN drug_class_members m ON m.class_id = a.class_id
UNION
SELECT a.patient_id, other.drug_id, a.substance
FROM allergies a
JOIN drug_class_members mine ON mine.drug_id = a.drug_id
JOIN drug_classes c ON c.class_id = mine.class_id AND c.cross_reactive = 1
JOIN drug_class_members other ON other.class_id = mine.class_id;

-- The last value of each test that a patient has had.
CREATE VIEW latest_labs AS
SELECT l.patient_id AS patient_id, l.test AS test, l.value AS value, l.taken_on AS taken_on
FROM labs l
WHERE l.taken_on = (SELECT MAX(n.taken_on) FROM labs n WHERE n.patient_id = l.patient_id AND n.test = l.test);
