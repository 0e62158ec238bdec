CREATE TABLE plans (
  plan_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  gigabytes INTEGER NOT NULL
);
CREATE TABLE lines (
  line_id INTEGER PRIMARY KEY,
  number TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  plan_id INTEGER NOT NULL REFERENCES plans (plan_id),
  roaming INTEGER NOT NULL,
  extra_gigabytes INTEGER NOT NULL,
  sim INTEGER NOT NULL
);
CREATE TABLE phone (
  phone_id INTEGER PRIMARY KEY,
  line_id INTEGER NOT NULL REFERENCES lines (line_id),
  mobile_data INTEGER NOT NULL,
  data_roaming INTEGER NOT NULL,
  data_saver INTEGER NOT NULL,
  network_mode TEXT NOT NULL,
  restarts INTEGER NOT NULL
);
