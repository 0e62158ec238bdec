-- A bank: branches, clients, accounts, cards, transactions, loans and standing orders.
CREATE TABLE branches (branch_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT NOT NULL);
CREATE TABLE clients (
  client_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  birth_date DATE NOT NULL,
  email TEXT UNIQUE,
  branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
  score INTEGER NOT NULL CHECK (score BETWEEN 300 AND 850)
);
CREATE TABLE accounts (
  account_id INTEGER PRIMARY KEY,
  account_number TEXT NOT NULL UNIQUE,
  client_id INTEGER NOT NULL REFERENCES clients (client_id),
  kind TEXT NOT NULL CHECK (kind IN ('current', 'savings', 'business')),
  balance NUMERIC(12, 2) NOT NULL,
  overdraft_limit INTEGER NOT NULL DEFAULT 0 CHECK (overdraft_limit BETWEEN 0 AND 5000),
  status TEXT NOT NULL CHECK (status IN ('active', 'frozen', 'closed')),
  opened_on DATE NOT NULL
);
CREATE TABLE cards (
  card_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  last_digits TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('debit', 'credit')),
  daily_limit INTEGER NOT NULL CHECK (daily_limit BETWEEN 100 AND 10000),
  status TEXT NOT NULL CHECK (status IN ('active', 'blocked', 'expired')),
  expires_on DATE NOT NULL
);
CREATE TABLE transactions (
  transaction_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  booked_on DATE NOT NULL,
  amount NUMERIC(10, 2) NOT NULL,
  category TEXT NOT NULL CHECK (category IN ('salary', 'rent', 'groceries', 'transfer', 'fee')),
  counterparty TEXT
);
CREATE TABLE loans (
  loan_id INTEGER PRIMARY KEY,
  loan_number TEXT NOT NULL UNIQUE,
  client_id INTEGER NOT NULL REFERENCES clients (client_id),
  principal_amount NUMERIC(12, 2) NOT NULL CHECK (principal_amount > 0),
  months INTEGER NOT NULL CHECK (months BETWEEN 6 AND 360),
  granted_on DATE NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('applied', 'running', 'paid_off', 'rejected'))
);
CREATE TABLE standing_orders (
  standing_order_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  payee TEXT NOT NULL,
  amount NUMERIC(8, 2) NOT NULL CHECK (amount > 0),
  day INTEGER NOT NULL CHECK (day BETWEEN 1 AND 28)
);
INSERT INTO branches (name, city) VALUES ('Riverside', 'Basel'), ('Castle Square', 'Prague'), ('Mill Lane', 'Dublin'), ('Lighthouse', 'Porto');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 41)
INSERT INTO clients (first_name, last_name, birth_date, email, branch_id, score)
SELECT json_extract('["Alma","Bruno","Clara","Denis","Edda","Franz","Greta"]', '$[' || (i % 7) || ']'), json_extract('["Amsel","Bauer","Cerny","Doyle","Engel","Ferreira"]', '$[' || (i / 7) || ']'),
       date('1948-05-12', '+' || (i * 487) || ' days'), CASE WHEN i % 6 THEN 'client' || (70 + i * 9) || '@letter.example' END, 1 + i % 4, 420 + (i * 67) % 400
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 69)
INSERT INTO accounts (account_number, client_id, kind, balance, overdraft_limit, status, opened_on)
SELECT 'CH' || (5000137 + i * 7919), 1 + (i * 5) % 42, json_extract('["current","savings","business"]', '$[' || (i % 3) || ']'), 120.4 + (i * 773) % 9000 + (i % 4) * 0.2,
       250 * (i % 5), json_extract('["active","active","frozen","active","closed"]', '$[' || (i % 5) || ']'), date('2015-01-20', '+' || (i * 53) || ' days')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO cards (account_id, last_digits, kind, daily_limit, status, expires_on)
SELECT 1 + (i * 3) % 70, (1004 + i * 149), json_extract('["debit","credit"]', '$[' || (i % 2) || ']'), 500 + 250 * (i % 7),
       json_extract('["active","active","blocked","expired"]', '$[' || (i % 4) || ']'), date('2026-01-31', '+' || (i * 21) || ' days')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
INSERT INTO transactions (account_id, booked_on, amount, category, counterparty)
SELECT 1 + (i * 11) % 70, date('2025-11-03', '+' || (i % 115) || ' days'), 8.5 + (i * 97) % 1900 + (i % 4) * 0.25, json_extract('["salary","rent","groceries","transfer","fee"]', '$[' || (i % 5) || ']'),
       CASE WHEN i % 5 < 4 THEN json_extract('["Old Bakery","City Housing","Northern Rail","Green Market"]', '$[' || (i % 4) || ']') END
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29)
INSERT INTO loans (loan_number, client_id, principal_amount, months, granted_on, status)
SELECT 'L' || (88012 + i * 211), 1 + (i * 7) % 42, 2500 + (i * 1750) % 60000, 12 * (1 + i % 20), date('2019-06-01', '+' || (i * 79) || ' days'), json_extract('["running","applied","paid_off","running","rejected"]', '$[' || (i % 5) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
INSERT INTO standing_orders (account_id, payee, amount, day)
SELECT 1 + (i * 7) % 70, json_extract('["City Housing","Gym Aurora","Phone House","Music School","Water Works"]', '$[' || (i % 5) || ']'), 12.5 + (i * 31) % 700, 1 + (i * 3) % 28 FROM n;
