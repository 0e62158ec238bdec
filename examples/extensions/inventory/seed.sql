INSERT INTO item VALUES ('L-1', 'desk lamp', 9), ('L-2', 'floor lamp', 4), ('C-1', 'office chair', 12);
INSERT INTO reservation VALUES (1, 'L-2', 'Ada Kern', 1);
