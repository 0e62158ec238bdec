-- The bank of tau2-bench as tables. The first column of each is its key; sums are dollars.
CREATE TABLE documents (
  document_id TEXT PRIMARY KEY,
  topic TEXT NOT NULL,
  title TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE INDEX documents_topic ON documents (topic);
CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  address TEXT NOT NULL,
  email TEXT NOT NULL,
  phone_number TEXT NOT NULL,
  date_of_birth TEXT NOT NULL,
  rho_bank_plus_subscription INTEGER,
  parent_user_id TEXT
);
CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  class TEXT NOT NULL,
  level TEXT NOT NULL,
  date_opened TEXT NOT NULL,
  status TEXT NOT NULL,
  current_holdings REAL NOT NULL,
  parent_account_id TEXT,
  date_closed TEXT,
  closure_reason TEXT,
  early_closure_fee_waived INTEGER
);
CREATE TABLE debit_cards (
  card_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  cardholder_name TEXT NOT NULL,
  last_4_digits TEXT NOT NULL,
  cvv TEXT NOT NULL,
  status TEXT NOT NULL,
  issue_date TEXT NOT NULL,
  expiration_date TEXT NOT NULL,
  issue_reason TEXT NOT NULL,
  card_design TEXT,
  fraud_alert_active INTEGER,
  alert_source TEXT,
  fraud_alert_cleared_date TEXT,
  velocity_blocked INTEGER,
  velocity_cleared_date TEXT,
  recurring_blocked INTEGER,
  daily_purchase_limit INTEGER,
  daily_purchase_used INTEGER,
  daily_atm_limit INTEGER,
  daily_atm_used INTEGER,
  original_purchase_limit INTEGER,
  original_atm_limit INTEGER,
  international_enabled INTEGER,
  online_enabled INTEGER,
  stolen_reported_date TEXT,
  stolen_reported_by TEXT,
  chip_verification_failures INTEGER,
  last_chip_failure_date TEXT,
  pin_locked INTEGER,
  pin_attempts_remaining INTEGER,
  pin_lock_timestamp TEXT,
  pin_lock_reason TEXT,
  pin_locks_last_90_days INTEGER,
  last_successful_pin_transaction_date TEXT,
  pin_last_changed TEXT,
  activated_date TEXT,
  deactivated_date TEXT,
  grace_period_ends TEXT,
  frozen_date TEXT,
  unfrozen_date TEXT,
  closed_date TEXT,
  closure_reason TEXT
);
CREATE TABLE debit_card_orders (
  order_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  delivery_option TEXT NOT NULL,
  card_design TEXT NOT NULL,
  shipping_address TEXT NOT NULL,
  delivery_fee REAL NOT NULL,
  design_fee REAL NOT NULL,
  excess_replacement_fee REAL NOT NULL,
  order_date TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE debit_card_disputes (
  dispute_id TEXT PRIMARY KEY,
  transaction_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  card_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  dispute_category TEXT NOT NULL,
  transaction_date TEXT,
  discovery_date TEXT,
  disputed_amount REAL NOT NULL,
  transaction_type TEXT,
  card_in_possession INTEGER,
  pin_compromised TEXT,
  contacted_merchant INTEGER,
  police_report_filed INTEGER,
  written_statement_provided INTEGER,
  provisional_credit_eligible INTEGER,
  provisional_credit_issued INTEGER,
  provisional_credit_amount REAL,
  customer_max_liability_amount REAL,
  card_action TEXT,
  filing_date TEXT NOT NULL,
  expected_resolution_date TEXT,
  status TEXT NOT NULL
);
CREATE TABLE bank_account_transaction_history (
  transaction_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  date TEXT NOT NULL,
  description TEXT NOT NULL,
  amount REAL NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  hold_amount REAL,
  available_amount REAL,
  hold_release_date TEXT
);
CREATE TABLE interest_discrepancy_reports (
  report_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  expected_apy REAL NOT NULL,
  actual_apy REAL NOT NULL,
  amount_difference REAL NOT NULL,
  submitted_date TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE credit_card_accounts (
  account_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  card_type TEXT NOT NULL,
  status TEXT,
  date_of_account_open TEXT NOT NULL,
  current_balance REAL NOT NULL,
  credit_limit REAL,
  reward_points TEXT NOT NULL,
  account_status TEXT,
  past_due_amount REAL,
  card_last_4_digits TEXT,
  closed_date TEXT
);
CREATE TABLE credit_card_transaction_history (
  transaction_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  credit_card_account_id TEXT,
  credit_card_type TEXT,
  merchant_name TEXT NOT NULL,
  transaction_amount REAL NOT NULL,
  transaction_date TEXT NOT NULL,
  category TEXT NOT NULL,
  status TEXT NOT NULL,
  rewards_earned TEXT NOT NULL,
  credit_reason TEXT
);
CREATE TABLE transaction_disputes (
  dispute_id TEXT PRIMARY KEY,
  transaction_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  card_action TEXT NOT NULL,
  card_last_4_digits TEXT NOT NULL,
  full_name TEXT NOT NULL,
  phone TEXT NOT NULL,
  email TEXT NOT NULL,
  address TEXT NOT NULL,
  contacted_merchant INTEGER NOT NULL,
  purchase_date TEXT NOT NULL,
  issue_noticed_date TEXT NOT NULL,
  dispute_reason TEXT NOT NULL,
  resolution_requested TEXT NOT NULL,
  partial_refund_amount REAL,
  eligible_for_provisional_credit INTEGER NOT NULL,
  provisional_credit_given INTEGER,
  submitted_at TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE cash_back_disputes (
  dispute_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  submitted_at TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE credit_card_orders (
  order_id TEXT PRIMARY KEY,
  credit_card_account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  shipping_address TEXT NOT NULL,
  reason TEXT NOT NULL,
  expedited_shipping INTEGER NOT NULL,
  order_date TEXT NOT NULL,
  expected_delivery TEXT,
  status TEXT NOT NULL
);
CREATE TABLE credit_card_closure_reasons (
  record_id TEXT PRIMARY KEY,
  credit_card_account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  closure_reason TEXT NOT NULL,
  logged_at TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE credit_card_account_flags (
  flag_id TEXT PRIMARY KEY,
  credit_card_account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  flag_type TEXT NOT NULL,
  effective_date TEXT NOT NULL,
  expiration_date TEXT NOT NULL,
  reason TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE credit_limit_increase_requests (
  request_id TEXT PRIMARY KEY,
  credit_card_account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  requested_increase_amount REAL,
  reason TEXT,
  previous_limit REAL,
  new_limit REAL,
  denial_reason TEXT,
  submitted_date TEXT,
  decision_date TEXT,
  status TEXT NOT NULL
);
CREATE TABLE payment_history (
  payment_id TEXT PRIMARY KEY,
  credit_card_account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  payment_date TEXT NOT NULL,
  amount REAL NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE credit_card_applications (
  application_id TEXT PRIMARY KEY,
  card_type TEXT NOT NULL,
  customer_name TEXT NOT NULL,
  annual_income REAL NOT NULL,
  rho_bank_subscription INTEGER NOT NULL,
  status TEXT NOT NULL,
  date TEXT NOT NULL
);
CREATE TABLE referrals (
  referral_id TEXT PRIMARY KEY,
  referrer_id TEXT NOT NULL,
  referred_account_type TEXT NOT NULL,
  referral_status TEXT NOT NULL,
  date TEXT NOT NULL
);
CREATE TABLE verification_history (
  record_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  user_id TEXT NOT NULL,
  address TEXT NOT NULL,
  email TEXT NOT NULL,
  phone_number TEXT NOT NULL,
  date_of_birth TEXT NOT NULL,
  time_verified TEXT NOT NULL
);
CREATE TABLE human_transfer_requests (
  request_id INTEGER PRIMARY KEY,
  made_by TEXT NOT NULL,  -- the user, or a tool of the agent
  requested_at TEXT NOT NULL
);
CREATE TABLE task_config (
  name TEXT PRIMARY KEY,
  auto_resolve_disputes INTEGER NOT NULL
);
