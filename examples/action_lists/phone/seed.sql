INSERT INTO plans VALUES (1, 'Basic', 5), (2, 'Plus', 20), (3, 'Family', 60);
INSERT INTO lines VALUES
  (11, '555-0141', 'Ines Falk', 2, 0, 0, 8801),
  (12, '555-0142', 'Otto Brandt', 1, 1, 0, 8802),
  (13, '555-0143', 'Mara Lindqvist', 3, 0, 2, 8803);
INSERT INTO phone VALUES (1, 11, 1, 0, 1, '3G', 0);
