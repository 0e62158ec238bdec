CREATE TABLE rooms (
  number INTEGER PRIMARY KEY,
  floor INTEGER NOT NULL,
  beds INTEGER NOT NULL,
  price INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('clean', 'dirty', 'blocked'))
);
CREATE TABLE guests (
  guest_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  room INTEGER NOT NULL REFERENCES rooms (number),
  phone TEXT NOT NULL,
  leaves TEXT NOT NULL
);
