INSERT INTO entry VALUES ('folio', 'A sheet folded once.'), ('quarto', 'A sheet folded twice.'), ('octavo', 'A sheet folded 3 times.');
