INSERT INTO members VALUES (21, 'Ada Kern'), (22, 'Ben O''Hara'), (23, 'Chloé Ruiz');
INSERT INTO books VALUES
  (31, 'Emma'), (32, 'Faust'), (33, 'Momo'),
  (34, 'Solaris'), (35, 'Ubik'), (36, 'Walden');
INSERT INTO loans VALUES
  (41, 31, 21, '2026-03-09'), (42, 32, 21, '2026-03-11'),
  (43, 33, 22, '2026-03-20');
