-- A kiosk that delivers: the smallest schema with a parent, a state and a bound.
CREATE TABLE couriers (courier_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT NOT NULL);
CREATE TABLE parcels (
  parcel_id INTEGER PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  courier_id INTEGER NOT NULL REFERENCES couriers (courier_id),
  weight INTEGER NOT NULL CHECK (weight BETWEEN 1 AND 90),
  status TEXT NOT NULL CHECK (status IN ('waiting', 'on_the_way', 'delivered'))
);
INSERT INTO couriers (name, city) VALUES
  ('Nils Abend', 'Graz'), ('Orla Byrne', 'Linz'), ('Pia Conti', 'Wels'), ('Quentin Dahl', 'Linz');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
INSERT INTO parcels (code, courier_id, weight, status)
SELECT 'P-' || (4100 + i * 37), 1 + i % 4, 2 + (i * 11) % 43,
       json_extract('["waiting","on_the_way","delivered"]', '$[' || (i % 3) || ']')
FROM n;
