-- The telephone company of tau2-bench and the phone of one customer as tables.
CREATE TABLE plans (
  plan_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  data_limit_gb REAL NOT NULL,
  price_per_month REAL NOT NULL,
  data_refueling_price_per_gb REAL NOT NULL
);
CREATE TABLE devices (
  device_id TEXT PRIMARY KEY,
  device_type TEXT NOT NULL,
  model TEXT NOT NULL,
  imei TEXT NOT NULL,
  is_esim_capable INTEGER NOT NULL,
  activated INTEGER NOT NULL,
  activation_date TEXT NOT NULL,
  last_esim_transfer_date TEXT
);
CREATE TABLE customers (
  customer_id TEXT PRIMARY KEY,
  full_name TEXT NOT NULL,
  date_of_birth TEXT NOT NULL,
  email TEXT NOT NULL,
  phone_number TEXT NOT NULL,
  account_status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  last_extension_date TEXT,
  goodwill_credit_used_this_year REAL NOT NULL,
  street TEXT NOT NULL,
  city TEXT NOT NULL,
  state TEXT NOT NULL,
  zip_code TEXT NOT NULL
);
CREATE TABLE payment_methods (
  customer_id TEXT NOT NULL REFERENCES customers (customer_id),
  position INTEGER NOT NULL,
  method_type TEXT NOT NULL,
  account_number_last_4 TEXT NOT NULL,
  expiration_date TEXT NOT NULL,
  PRIMARY KEY (customer_id, position)
);
CREATE TABLE lines (
  line_id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (customer_id),
  phone_number TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  plan_id TEXT NOT NULL REFERENCES plans (plan_id),
  device_id TEXT NOT NULL REFERENCES devices (device_id),
  data_used_gb REAL NOT NULL,
  data_refueling_gb REAL NOT NULL,
  roaming_enabled INTEGER NOT NULL,
  contract_end_date TEXT NOT NULL,
  last_plan_change_date TEXT NOT NULL,
  last_sim_replacement_date TEXT,
  suspension_start_date TEXT
);
CREATE TABLE bills (
  bill_id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (customer_id),
  period_start TEXT NOT NULL,
  period_end TEXT NOT NULL,
  issue_date TEXT NOT NULL,
  total_due REAL NOT NULL,
  due_date TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE line_items (
  item_id INTEGER PRIMARY KEY,
  bill_id TEXT NOT NULL REFERENCES bills (bill_id),
  description TEXT NOT NULL,
  amount REAL NOT NULL,
  date TEXT NOT NULL,
  item_type TEXT NOT NULL
);
CREATE TABLE phone (
  phone_id INTEGER PRIMARY KEY CHECK (phone_id = 1),
  owner TEXT,
  phone_number TEXT,
  is_abroad INTEGER NOT NULL DEFAULT 0,
  sim_card_status TEXT NOT NULL,
  sim_card_missing INTEGER NOT NULL,
  airplane_mode INTEGER NOT NULL,
  connection TEXT NOT NULL,
  technology TEXT NOT NULL,
  signal TEXT NOT NULL,
  network_mode TEXT NOT NULL,
  data_enabled INTEGER NOT NULL,
  roaming_enabled INTEGER NOT NULL,
  data_saver INTEGER NOT NULL,
  wifi_enabled INTEGER NOT NULL,
  wifi_calling INTEGER NOT NULL,
  mms_over_wifi INTEGER NOT NULL,
  vpn TEXT NOT NULL DEFAULT 'off',  -- or how fast its server is
  apn_name TEXT NOT NULL,
  mmsc_url TEXT,
  default_apn_name TEXT NOT NULL,
  default_mmsc_url TEXT NOT NULL,
  apn_reset_at_reboot INTEGER NOT NULL DEFAULT 0,
  restarts INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE permissions (
  app_name TEXT NOT NULL,
  permission TEXT NOT NULL,
  granted INTEGER NOT NULL,
  PRIMARY KEY (app_name, permission)
);
