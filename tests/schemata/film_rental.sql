-- A film rental: films, their actors, copies in two stores, customers, rentals and payments.
CREATE TABLE languages (language_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE films (
  film_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL UNIQUE,
  release_year INTEGER NOT NULL CHECK (release_year BETWEEN 1920 AND 2030),
  language_id INTEGER NOT NULL REFERENCES languages (language_id),
  rental_days INTEGER NOT NULL CHECK (rental_days BETWEEN 1 AND 14),
  rental_rate NUMERIC(5, 2) NOT NULL CHECK (rental_rate >= 0),
  length_minutes INTEGER,
  rating TEXT NOT NULL CHECK (rating IN ('G', 'PG', 'PG-13', 'R'))
);
CREATE TABLE actors (actor_id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL);
CREATE TABLE film_actors (
  film_id INTEGER NOT NULL REFERENCES films (film_id),
  actor_id INTEGER NOT NULL REFERENCES actors (actor_id),
  PRIMARY KEY (film_id, actor_id)
);
CREATE TABLE stores (store_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT NOT NULL);
CREATE TABLE copies (
  copy_id INTEGER PRIMARY KEY,
  barcode TEXT NOT NULL UNIQUE,
  film_id INTEGER NOT NULL REFERENCES films (film_id),
  store_id INTEGER NOT NULL REFERENCES stores (store_id),
  condition TEXT NOT NULL CHECK (condition IN ('new', 'good', 'worn', 'lost'))
);
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  store_id INTEGER NOT NULL REFERENCES stores (store_id),
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT UNIQUE,
  joined_on DATE NOT NULL,
  points INTEGER NOT NULL DEFAULT 0 CHECK (points BETWEEN 0 AND 999)
);
CREATE TABLE rentals (
  rental_id INTEGER PRIMARY KEY,
  copy_id INTEGER NOT NULL REFERENCES copies (copy_id),
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  rented_on DATE NOT NULL,
  returned_on DATE,
  CHECK (returned_on IS NULL OR returned_on >= rented_on)
);
CREATE TABLE payments (
  payment_id INTEGER PRIMARY KEY,
  rental_id INTEGER NOT NULL REFERENCES rentals (rental_id),
  amount NUMERIC(6, 2) NOT NULL CHECK (amount >= 0),
  paid_on DATE NOT NULL
);
INSERT INTO languages (name) VALUES ('English'), ('French'), ('Japanese'), ('Swedish');
INSERT INTO stores (name, city) VALUES ('Harbour Street', 'Bergen'), ('Old Market', 'Leeds'), ('Northgate', 'Utrecht');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 47)
INSERT INTO films (title, release_year, language_id, rental_days, rental_rate, length_minutes, rating)
SELECT json_extract('["Silent","Crimson","Paper","Winter","Borrowed","Glass","Last","Hidden"]', '$[' || (i % 8) || ']') || ' '
       || json_extract('["Harbour","Orchard","Signal","Letters","Kingdom","Tide"]', '$[' || (i / 8) || ']'),
       1961 + (i * 7) % 60, 1 + (i * 3) % 4, 3 + i % 5, 0.99 + (i % 4) * 0.75, CASE WHEN i % 9 THEN 78 + (i * 11) % 90 END,
       json_extract('["G","PG","PG-13","R"]', '$[' || ((i * 5) % 4) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29)
INSERT INTO actors (first_name, last_name)
SELECT json_extract('["Vera","Milan","Sunniva","Tomas","Reiko","Gaspard"]', '$[' || (i % 6) || ']'),
       json_extract('["Lindqvist","Moreau","Tanabe","Osei","Whitlock"]', '$[' || (i / 6) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119)
INSERT OR IGNORE INTO film_actors (film_id, actor_id) SELECT 1 + (i * 7) % 48, 1 + (i * 11) % 30 FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 89)
INSERT INTO copies (barcode, film_id, store_id, condition)
SELECT 'FR' || (20011 + i * 13), 1 + (i * 5) % 48, 1 + i % 3, json_extract('["good","new","good","worn","lost"]', '$[' || ((i * 3) % 5) || ']') FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 44)
INSERT INTO customers (store_id, first_name, last_name, email, joined_on, points)
SELECT 1 + i % 3, json_extract('["Anton","Birgit","Carmen","Dario","Esther","Fiona","Gideon","Helga","Imre"]', '$[' || (i % 9) || ']'),
       json_extract('["Falk","Gruber","Hansen","Ito","Jensen"]', '$[' || (i / 9) || ']'),
       CASE WHEN i % 8 THEN 'c' || (310 + i * 7) || '@mail.example' END, date('2023-02-01', '+' || (i * 17) || ' days'), (i * 37) % 260
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 139)
INSERT INTO rentals (copy_id, customer_id, rented_on, returned_on)
SELECT 1 + (i * 7) % 90, 1 + (i * 11) % 45, date('2025-11-01', '+' || (i % 110) || ' days'),
       CASE WHEN i % 4 THEN date('2025-11-01', '+' || (i % 110 + 1 + i % 6) || ' days') END
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119)
INSERT INTO payments (rental_id, amount, paid_on)
SELECT 1 + (i * 3) % 140, 0.99 + (i % 7) * 0.75, date('2025-11-02', '+' || (i % 110) || ' days') FROM n;
