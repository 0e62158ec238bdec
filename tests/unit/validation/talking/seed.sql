INSERT INTO members VALUES (11, 'Ada Kern', '1980-05-03', 0), (12, 'Ada Kern', '1991-11-21', 1),
  (13, 'Ben Ohara', '1975-02-14', 1), (14, 'Ben Ohara', '1988-08-08', 0);
INSERT INTO rooms VALUES ('Attic', 4, 'red'), ('Cellar', 8, 'blue'), ('Hall', 40, 'red'), ('Loft', 6, 'red');
INSERT INTO bookings VALUES (31, 11, 'Cellar', '2026-03-09'), (32, 12, 'Cellar', '2026-03-10');
