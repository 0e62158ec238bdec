INSERT INTO shelf VALUES (1, 'hall', 40), (2, 'study', 75), (3, 'attic', 12);
