INSERT INTO plans VALUES (1, 'Basic', 5), (2, 'Plus', 20), (3, 'Family', 60);
INSERT INTO phone_lines VALUES
  (11, '555-0141', 'Ines Falk', 2, FALSE, 0, 8801),
  (12, '555-0142', 'Otto Brandt', 1, TRUE, 0, 8802),
  (13, '555-0143', 'Mara Lindqvist', 3, FALSE, 2, 8803);
INSERT INTO phone VALUES (1, 11, TRUE, FALSE, TRUE, '3G', 0);
