-- A shop for recordings: artists, albums, tracks, customers and their invoices.
CREATE TABLE artists (artist_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, country TEXT NOT NULL);
CREATE TABLE genres (genre_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE albums (
  album_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  artist_id INTEGER NOT NULL REFERENCES artists (artist_id),
  released_on TEXT NOT NULL,
  stock INTEGER NOT NULL DEFAULT 0 CHECK (stock BETWEEN 0 AND 500)
);
CREATE TABLE tracks (
  track_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  album_id INTEGER NOT NULL REFERENCES albums (album_id),
  genre_id INTEGER REFERENCES genres (genre_id),
  seconds INTEGER NOT NULL CHECK (seconds > 0),
  unit_price NUMERIC(6, 2) NOT NULL CHECK (unit_price >= 0)
);
CREATE TABLE employees (
  employee_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  job TEXT NOT NULL,
  reports_to INTEGER REFERENCES employees (employee_id)
);
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  city TEXT,
  support_rep_id INTEGER REFERENCES employees (employee_id),
  bonus_points INTEGER NOT NULL DEFAULT 0 CHECK (bonus_points >= 0)
);
CREATE TABLE invoices (
  invoice_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  issued_on TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'overdue', 'cancelled')),
  total NUMERIC(8, 2) NOT NULL
);
CREATE TABLE invoice_lines (
  invoice_line_id INTEGER PRIMARY KEY,
  invoice_id INTEGER NOT NULL REFERENCES invoices (invoice_id),
  track_id INTEGER NOT NULL REFERENCES tracks (track_id),
  unit_price NUMERIC(6, 2) NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity > 0)
);
CREATE TABLE playlists (playlist_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE playlist_tracks (
  playlist_id INTEGER NOT NULL REFERENCES playlists (playlist_id),
  track_id INTEGER NOT NULL REFERENCES tracks (track_id),
  position INTEGER NOT NULL,
  PRIMARY KEY (playlist_id, track_id)
);
INSERT INTO artists (name, country) VALUES
  ('The Paper Kites of Oslo', 'Norway'), ('Marisol Vega', 'Spain'), ('Hollow Pines', 'Canada'), ('Tin Lantern', 'Ireland'),
  ('Juno Albrecht', 'Germany'), ('Saltwater Choir', 'Portugal'), ('O''Malley and Sons', 'Ireland'), ('Night Ferry', 'Denmark');
INSERT INTO genres (name) VALUES ('Folk'), ('Jazz'), ('Rock'), ('Classical'), ('Electronic');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
INSERT INTO albums (title, artist_id, released_on, stock)
SELECT json_extract('["Amber","Winter","Glass","Second","Quiet"]', '$[' || (i % 5) || ']') || ' ' ||
       json_extract('["Rooms","Tides","Letters","Roads"]', '$[' || (i / 5) || ']'),
       1 + (i * 3) % 8, date('2012-03-01', '+' || (i * 173) || ' days'), (i * 37) % 90
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 79)
INSERT INTO tracks (name, album_id, genre_id, seconds, unit_price)
SELECT json_extract('["Lighthouse","Evening Train","Copper Sky","River Song","Old Stairs","Marble","Harvest","Blue Door"]', '$[' || (i % 8) || ']') || ' ' ||
       json_extract('["Prelude","Waltz","Reprise","Anthem","Lullaby","March","Sketch","Finale","Dance","Hymn"]', '$[' || (i / 8) || ']'),
       1 + i % 20, 1 + (i * 7) % 5, 120 + (i * 53) % 301, 0.79 + ((i * 11) % 8) * 0.25
FROM n;
INSERT INTO employees (first_name, last_name, job, reports_to) VALUES
  ('Ines', 'Halvorsen', 'manager', NULL), ('Tomas', 'Brandt', 'sales', 1), ('Leila', 'Quist', 'sales', 1),
  ('Owen', 'Farrell', 'support', 2), ('Petra', 'Lund', 'support', 2), ('Rui', 'Lund', 'support', 3);
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29)
INSERT INTO customers (first_name, last_name, email, city, support_rep_id, bonus_points)
SELECT json_extract('["Ada","Bela","Carl","Dora","Emil","Fay"]', '$[' || (i % 6) || ']'),
       json_extract('["Kern","Sato","Ruiz","Toth","Vega"]', '$[' || (i / 6) || ']'),
       lower(json_extract('["Ada","Bela","Carl","Dora","Emil","Fay"]', '$[' || (i % 6) || ']')) || i || '@post.example',
       json_extract('["Bergen","Porto","Cork",null,"Ghent"]', '$[' || (i % 5) || ']'), 4 + i % 3, (i * 17) % 120
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO invoices (customer_id, issued_on, status, total)
SELECT 1 + (i * 7) % 30, date('2025-09-01', '+' || (i * 3) || ' days'),
       json_extract('["open","paid","overdue","paid","cancelled"]', '$[' || (i % 5) || ']'), round(3.5 + ((i * 29) % 83) * 0.75, 2)
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119)
INSERT INTO invoice_lines (invoice_id, track_id, unit_price, quantity)
SELECT 1 + i % 60, 1 + (i * 13) % 80, 0.79 + ((i * 11) % 8) * 0.25, 1 + (i * 5) % 4 FROM n;
INSERT INTO playlists (name) VALUES ('Morning Kitchen'), ('Long Drive'), ('Late Study'), ('Rainy Sunday');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO playlist_tracks SELECT 1 + i % 4, 1 + (i * 3) % 80, 1 + i / 4 FROM n;
