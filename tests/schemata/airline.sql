-- An airline: airports, aircraft, flights between them, passengers, bookings and their seats.
CREATE TABLE airports (airport_code TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE aircraft (
  aircraft_id INTEGER PRIMARY KEY,
  registration TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL CHECK (model IN ('A220', 'A320', 'ATR72', 'E190')),
  seats INTEGER NOT NULL CHECK (seats BETWEEN 40 AND 240),
  status TEXT NOT NULL CHECK (status IN ('in_service', 'maintenance', 'retired'))
);
CREATE TABLE flights (
  flight_id INTEGER PRIMARY KEY,
  flight_number TEXT NOT NULL UNIQUE,
  origin_code TEXT NOT NULL REFERENCES airports (airport_code),
  destination_code TEXT NOT NULL REFERENCES airports (airport_code),
  aircraft_id INTEGER NOT NULL REFERENCES aircraft (aircraft_id),
  departs_at TEXT NOT NULL,
  arrives_at TEXT NOT NULL,
  gate TEXT,
  delay_minutes INTEGER NOT NULL DEFAULT 0 CHECK (delay_minutes BETWEEN 0 AND 600),
  status TEXT NOT NULL CHECK (status IN ('scheduled', 'boarding', 'departed', 'arrived', 'cancelled')),
  CHECK (origin_code <> destination_code)
);
CREATE TABLE passengers (
  passenger_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT UNIQUE,
  passport_number TEXT NOT NULL UNIQUE,
  miles INTEGER NOT NULL DEFAULT 0 CHECK (miles >= 0)
);
CREATE TABLE bookings (
  booking_id INTEGER PRIMARY KEY,
  reference TEXT NOT NULL UNIQUE,
  passenger_id INTEGER NOT NULL REFERENCES passengers (passenger_id),
  booked_on DATE NOT NULL,
  total_price NUMERIC(9, 2) NOT NULL CHECK (total_price >= 0),
  status TEXT NOT NULL CHECK (status IN ('held', 'confirmed', 'cancelled'))
);
CREATE TABLE segments (
  segment_id INTEGER PRIMARY KEY,
  booking_id INTEGER NOT NULL REFERENCES bookings (booking_id),
  flight_id INTEGER NOT NULL REFERENCES flights (flight_id),
  seat TEXT,
  cabin TEXT NOT NULL CHECK (cabin IN ('economy', 'premium', 'business')),
  bags INTEGER NOT NULL DEFAULT 1 CHECK (bags BETWEEN 0 AND 5),
  UNIQUE (booking_id, flight_id)
);
INSERT INTO airports VALUES ('OSL', 'Gardermoen', 'Oslo', 'Norway'), ('CPH', 'Kastrup', 'Copenhagen', 'Denmark'), ('EDI', 'Turnhouse', 'Edinburgh', 'Scotland'),
  ('LIS', 'Portela', 'Lisbon', 'Portugal'), ('VIE', 'Schwechat', 'Vienna', 'Austria'), ('GVA', 'Cointrin', 'Geneva', 'Switzerland'), ('RIX', 'Skulte', 'Riga', 'Latvia');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 13)
INSERT INTO aircraft (registration, model, seats, status)
SELECT 'LN-' || char(65 + i) || char(70 + (i * 3) % 20) || char(66 + (i * 7) % 20), json_extract('["A220","A320","ATR72","E190"]', '$[' || (i % 4) || ']'),
       json_extract('[145,180,70,104]', '$[' || (i % 4) || ']'), json_extract('["in_service","in_service","maintenance","in_service","retired"]', '$[' || (i % 5) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 55)
INSERT INTO flights (flight_number, origin_code, destination_code, aircraft_id, departs_at, arrives_at, gate, delay_minutes, status)
SELECT 'NW' || (401 + i * 3), json_extract('["OSL","CPH","EDI","LIS","VIE","GVA","RIX"]', '$[' || (i % 7) || ']'),
       json_extract('["OSL","CPH","EDI","LIS","VIE","GVA","RIX"]', '$[' || ((i + 1 + i % 5) % 7) || ']'), 1 + (i * 5) % 14,
       strftime('%Y-%m-%d %H:%M', '2026-02-20 06:00', '+' || (i * 335 / 5 * 5) || ' minutes'), strftime('%Y-%m-%d %H:%M', '2026-02-20 06:00', '+' || (i * 335 / 5 * 5 + 75 + (i % 7) * 20) || ' minutes'),
       CASE WHEN i % 5 THEN char(65 + i % 4) || (1 + (i * 7) % 28) END, CASE WHEN i % 3 = 0 THEN (i * 5) % 95 ELSE 0 END,
       json_extract('["scheduled","arrived","scheduled","boarding","departed","cancelled","scheduled"]', '$[' || ((i * 3) % 7) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 47)
INSERT INTO passengers (first_name, last_name, email, passport_number, miles)
SELECT json_extract('["Astrid","Benoit","Catalina","Domhnall","Eero","Frida","Giulia","Hakon"]', '$[' || (i % 8) || ']'),
       json_extract('["Aas","Bianchi","Cardoso","Duffy","Eklund","Fischer"]', '$[' || (i / 8) || ']'),
       CASE WHEN i % 7 THEN 'p' || (900 + i * 3) || '@post.example' END, 'N' || (4400121 + i * 9173), (i * 613) % 24000
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 69)
INSERT INTO bookings (reference, passenger_id, booked_on, total_price, status)
SELECT char(65 + i % 26) || char(65 + (i * 7) % 26) || char(65 + (i * 3) % 26) || (1000 + i * 113), 1 + (i * 5) % 48, date('2025-12-01', '+' || i || ' days'),
       49.9 + (i * 37) % 600 + (i % 4) * 0.05, json_extract('["confirmed","held","confirmed","cancelled","confirmed"]', '$[' || (i % 5) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 129)
INSERT OR IGNORE INTO segments (booking_id, flight_id, seat, cabin, bags)
SELECT 1 + (i * 3) % 70, 1 + (i * 11) % 56, CASE WHEN i % 6 THEN (1 + (i * 7) % 30) || char(65 + i % 6) END, json_extract('["economy","economy","premium","business"]', '$[' || (i % 4) || ']'), i % 4 FROM n;
