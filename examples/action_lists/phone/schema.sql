CREATE TABLE plans (
  plan_id INTEGER PRIMARY KEY,
  name VARCHAR(40) NOT NULL UNIQUE,
  gigabytes INTEGER NOT NULL
);
CREATE TABLE phone_lines (
  line_id INTEGER PRIMARY KEY,
  number VARCHAR(20) NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  plan_id INTEGER NOT NULL REFERENCES plans (plan_id),
  roaming BOOLEAN NOT NULL,
  extra_gigabytes INTEGER NOT NULL,
  sim INTEGER NOT NULL
);
CREATE TABLE phone (
  phone_id INTEGER PRIMARY KEY,
  line_id INTEGER NOT NULL REFERENCES phone_lines (line_id),
  mobile_data BOOLEAN NOT NULL,
  data_roaming BOOLEAN NOT NULL,
  data_saver BOOLEAN NOT NULL,
  network_mode TEXT NOT NULL,
  restarts INTEGER NOT NULL
);
