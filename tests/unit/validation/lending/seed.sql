INSERT INTO members VALUES (21, 'Ada Kern', '1980-05-03', 0), (22, 'Ada Kern', '1991-11-21', 1),
  (23, 'Ben O''Hara', '1975-02-14', 0), (24, 'Ben O''Hara', '1988-08-08', 1);
INSERT INTO books VALUES (31, 'Emma', 9.5, 'red'), (32, 'Faust', 12, 'red'), (33, 'Momo', 7.25, 'blue'),
  (34, 'Solaris', 8, 'red'), (35, 'Ubik', 6, 'blue'), (36, 'Walden', 15, 'blue');
INSERT INTO loans VALUES (41, 31, 21, '2026-03-09', NULL), (42, 32, 21, '2026-03-11', NULL),
  (43, 33, 23, '2026-03-20', NULL);
