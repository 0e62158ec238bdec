INSERT INTO rooms VALUES
  (101, 1, 1, 65, 'clean'), (102, 1, 2, 90, 'dirty'), (201, 2, 2, 95, 'clean'),
  (202, 2, 3, 120, 'dirty'), (301, 3, 4, 160, 'clean'), (302, 3, 1, 70, 'blocked');
INSERT INTO guests VALUES
  (11, 'Ada Kern', 102, '555-0142', '2026-03-05'),
  (12, 'Ben Ortiz', 202, '555-0187', '2026-03-08'),
  (13, 'Chloe Ruiz', 301, '555-0165', '2026-03-03');
