-- A university: departments, lecturers, courses with those they build on, students and enrolments.
CREATE TABLE departments (department_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, building TEXT NOT NULL, budget NUMERIC(10, 2) NOT NULL);
CREATE TABLE lecturers (
  lecturer_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  office TEXT NOT NULL UNIQUE,
  department_id INTEGER NOT NULL REFERENCES departments (department_id),
  hours INTEGER NOT NULL CHECK (hours BETWEEN 0 AND 40)
);
CREATE TABLE courses (
  course_id INTEGER PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  department_id INTEGER NOT NULL REFERENCES departments (department_id),
  lecturer_id INTEGER REFERENCES lecturers (lecturer_id),
  builds_on INTEGER REFERENCES courses (course_id),
  seats INTEGER NOT NULL CHECK (seats BETWEEN 5 AND 300),
  state TEXT NOT NULL CHECK (state IN ('draft', 'open', 'running', 'closed'))
);
CREATE TABLE students (student_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, enrolled_on TEXT NOT NULL, credits INTEGER NOT NULL);
CREATE TABLE enrolments (
  enrolment_id INTEGER PRIMARY KEY,
  student_id INTEGER NOT NULL REFERENCES students (student_id),
  course_id INTEGER NOT NULL REFERENCES courses (course_id),
  grade INTEGER CHECK (grade BETWEEN 0 AND 100),
  UNIQUE (student_id, course_id)
);
INSERT INTO departments (name, building, budget) VALUES ('Astronomy', 'Hill House', 410000), ('Linguistics', 'West Hall', 182500.5),
  ('Geology', 'Stone Wing', 233000), ('Statistics', 'West Hall', 305750.25);
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 14)
INSERT INTO lecturers (name, office, department_id, hours)
SELECT json_extract('["Harriet","Levi","Mona","Piotr","Zadie"]', '$[' || (i % 5) || ']') || ' ' || json_extract('["Quimby","Rask","Tremont"]', '$[' || (i / 5) || ']'),
       'R' || (101 + i * 7), 1 + i % 4, (i * 7) % 33
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 23)
INSERT INTO courses (code, title, department_id, lecturer_id, builds_on, seats, state)
SELECT json_extract('["AST","LIN","GEO","STA"]', '$[' || (i % 4) || ']') || (100 + i * 3),
       json_extract('["Foundations","Methods","Seminar"]', '$[' || (i % 3) || ']') || ' of ' || json_extract('["Light","Speech","Rocks","Chance","Maps","Stars","Sound","Data"]', '$[' || (i / 3) || ']'),
       1 + i % 4, CASE WHEN i % 6 THEN 1 + (i * 4) % 15 END, CASE WHEN i > 7 THEN i - 7 END, 20 + (i * 13) % 120,
       json_extract('["open","running","closed","draft","open"]', '$[' || (i % 5) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO students (full_name, email, enrolled_on, credits)
SELECT json_extract('["Anouk","Bilal","Cosima","Devon","Elif","Florian","Gwen","Hana"]', '$[' || (i % 8) || ']') || ' ' || json_extract('["Ibarra","Jansen","Kaplan","Laurent","Mbeki"]', '$[' || (i / 8) || ']'),
       'student' || (700 + i * 3) || '@campus.example', date('2023-09-01', '+' || (i * 9) || ' days'), (i * 23) % 170
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT OR IGNORE INTO enrolments (student_id, course_id, grade) SELECT 1 + (i * 3) % 40, 1 + (i * 5) % 24, CASE WHEN i % 4 THEN 41 + (i * 17) % 58 END FROM n;
