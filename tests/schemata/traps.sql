-- What trips generators: reserved words, no key, composite and text keys, self references, two keys to one table, NULLs.
CREATE TABLE "order" (
  "id" INTEGER PRIMARY KEY,
  "from" TEXT NOT NULL,
  "class" TEXT,
  "float" REAL NOT NULL,
  "limit" INTEGER NOT NULL,
  seller TEXT NOT NULL REFERENCES "group" (code),
  buyer TEXT NOT NULL REFERENCES "group" (code)
);
CREATE TABLE "group" (code TEXT PRIMARY KEY, title TEXT, parent TEXT REFERENCES "group" (code), "Budget" FLOAT);
CREATE TABLE log (moment TEXT, message TEXT);
CREATE TABLE stock_levels (
  depot TEXT NOT NULL, shelf INTEGER NOT NULL, quantity INTEGER NOT NULL, PRIMARY KEY (depot, shelf)
);
CREATE TABLE "Select" ("SelectID" INTEGER PRIMARY KEY, "Name" TEXT, empty TEXT);
CREATE TABLE nobody (nobody_id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO "group" VALUES ('AA', 'Alpha Works', NULL, 10.5), ('BB', NULL, 'AA', 20.25), ('CC', 'Gamma Works', 'AA', 30.75),
  ('DD', 'Delta Works', 'BB', NULL), ('EE', 'O''Neill & Co', 'BB', 50.0);
INSERT INTO "order" VALUES (1, 'web', 'x', 1.5, 3, 'AA', 'BB'), (2, 'shop', NULL, 2.25, 4, 'BB', 'CC'),
  (3, 'web', 'y', 0.1, 9, 'CC', 'AA'), (4, 'fair', 'x', 7.75, 2, 'DD', 'EE'), (5, 'web', 'z', 12.0, 6, 'EE', 'AA');
INSERT INTO log VALUES ('2026-01-02 10:00:00', 'started'), (NULL, NULL);
INSERT INTO stock_levels VALUES ('north', 1, 10), ('north', 2, 0), ('south', 1, 7);
INSERT INTO "Select" VALUES (1, 'One "quoted" {thing}', NULL), (2, NULL, NULL), (3, '$three', NULL);
