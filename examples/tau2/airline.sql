-- The airline of tau2-bench as tables.
CREATE TABLE airports (iata TEXT PRIMARY KEY, city TEXT NOT NULL);
CREATE TABLE flights (
  flight_number TEXT PRIMARY KEY,
  origin TEXT NOT NULL REFERENCES airports (iata),
  destination TEXT NOT NULL REFERENCES airports (iata),
  departs TEXT NOT NULL,
  arrives TEXT NOT NULL  -- "01:30:00+1" is on the next day
);
CREATE TABLE flight_days (
  flight_number TEXT NOT NULL REFERENCES flights (flight_number),
  date TEXT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (flight_number, date)
);
CREATE TABLE fares (
  flight_number TEXT NOT NULL,
  date TEXT NOT NULL,
  cabin TEXT NOT NULL,
  seats INTEGER NOT NULL,
  price INTEGER NOT NULL,
  PRIMARY KEY (flight_number, date, cabin),
  FOREIGN KEY (flight_number, date) REFERENCES flight_days (flight_number, date)
);
CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT NOT NULL,
  dob TEXT NOT NULL,
  membership TEXT NOT NULL,
  address1 TEXT NOT NULL,
  address2 TEXT,
  city TEXT NOT NULL,
  country TEXT NOT NULL,
  state TEXT NOT NULL,
  zip TEXT NOT NULL
);
CREATE TABLE payment_methods (
  user_id TEXT NOT NULL REFERENCES users (user_id),
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  brand TEXT,
  last_four TEXT,
  amount NUMERIC,
  PRIMARY KEY (user_id, id)
);
CREATE TABLE saved_passengers (
  user_id TEXT NOT NULL REFERENCES users (user_id),
  position INTEGER NOT NULL,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  dob TEXT NOT NULL,
  PRIMARY KEY (user_id, position)
);
CREATE TABLE reservations (
  reservation_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (user_id),
  origin TEXT NOT NULL,
  destination TEXT NOT NULL,
  flight_type TEXT NOT NULL,
  cabin TEXT NOT NULL,
  created_at TEXT NOT NULL,
  total_baggages INTEGER NOT NULL,
  nonfree_baggages INTEGER NOT NULL,
  insurance TEXT NOT NULL,
  status TEXT
);
CREATE TABLE reservation_flights (
  reservation_id TEXT NOT NULL REFERENCES reservations (reservation_id),
  position INTEGER NOT NULL,
  flight_number TEXT NOT NULL REFERENCES flights (flight_number),
  date TEXT NOT NULL,
  origin TEXT NOT NULL,
  destination TEXT NOT NULL,
  price INTEGER NOT NULL,
  PRIMARY KEY (reservation_id, position)
);
CREATE TABLE passengers (
  reservation_id TEXT NOT NULL REFERENCES reservations (reservation_id),
  position INTEGER NOT NULL,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  dob TEXT NOT NULL,
  PRIMARY KEY (reservation_id, position)
);
CREATE TABLE payments (
  reservation_id TEXT NOT NULL REFERENCES reservations (reservation_id),
  position INTEGER NOT NULL,
  payment_id TEXT NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (reservation_id, position)
);
