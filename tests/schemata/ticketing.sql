-- A help desk: teams, agents, customers with contracts, tickets, comments and labels.
CREATE TABLE teams (team_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, channel TEXT NOT NULL);
CREATE TABLE agents (
  agent_id INTEGER PRIMARY KEY,
  team_id INTEGER NOT NULL REFERENCES teams (team_id),
  full_name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  level INTEGER NOT NULL CHECK (level BETWEEN 1 AND 3)
);
CREATE TABLE companies (company_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, plan TEXT NOT NULL CHECK (plan IN ('basic', 'plus', 'premium')), seats INTEGER NOT NULL CHECK (seats BETWEEN 1 AND 5000), renews_on DATE NOT NULL);
CREATE TABLE contacts (
  contact_id INTEGER PRIMARY KEY,
  company_id INTEGER NOT NULL REFERENCES companies (company_id),
  full_name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  phone TEXT
);
CREATE TABLE tickets (
  ticket_id INTEGER PRIMARY KEY,
  number TEXT NOT NULL UNIQUE,
  contact_id INTEGER NOT NULL REFERENCES contacts (contact_id),
  agent_id INTEGER REFERENCES agents (agent_id),
  subject TEXT NOT NULL,
  priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
  status TEXT NOT NULL CHECK (status IN ('open', 'pending', 'resolved', 'closed')),
  opened_at DATETIME NOT NULL,
  resolved_at DATETIME,
  hours_spent INTEGER NOT NULL DEFAULT 0 CHECK (hours_spent BETWEEN 0 AND 80)
);
CREATE TABLE comments (
  comment_id INTEGER PRIMARY KEY,
  ticket_id INTEGER NOT NULL REFERENCES tickets (ticket_id),
  author TEXT NOT NULL,
  body TEXT NOT NULL,
  minutes INTEGER NOT NULL CHECK (minutes BETWEEN 0 AND 240)
);
CREATE TABLE labels (label_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE ticket_labels (
  ticket_id INTEGER NOT NULL REFERENCES tickets (ticket_id),
  label_id INTEGER NOT NULL REFERENCES labels (label_id),
  PRIMARY KEY (ticket_id, label_id)
);
INSERT INTO teams (name, channel) VALUES ('Network', 'chat'), ('Billing', 'mail'), ('Devices', 'phone'), ('Accounts', 'mail');
INSERT INTO labels (name) VALUES ('outage'), ('refund'), ('password'), ('hardware'), ('question'), ('vip');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 14)
INSERT INTO agents (team_id, full_name, email, level)
SELECT 1 + i % 4, json_extract('["Ines","Jorge","Katja","Lamar","Mei"]', '$[' || (i % 5) || ']') || ' ' || json_extract('["Novotny","Oduya","Prior"]', '$[' || (i / 5) || ']'),
       'agent' || (11 + i) || '@desk.example', 1 + (i * 5) % 3
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
INSERT INTO companies (name, plan, seats, renews_on)
SELECT json_extract('["Helix","Juniper","Kestrel","Lumen"]', '$[' || (i % 4) || ']') || ' ' || json_extract('["Dental","Logistics","Studios","Energy","Textiles"]', '$[' || (i / 4) || ']'),
       json_extract('["basic","plus","premium"]', '$[' || (i % 3) || ']'), 5 + (i * 41) % 400, date('2026-03-10', '+' || (i * 16) || ' days')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 41)
INSERT INTO contacts (company_id, full_name, email, phone)
SELECT 1 + (i * 3) % 20, json_extract('["Adele","Boris","Chiara","Dimitri","Elke","Farah","Goran"]', '$[' || (i % 7) || ']') || ' ' || json_extract('["Hahn","Iversen","Jordan","Kovacs","Lopes","Meyer"]', '$[' || (i / 7) || ']'),
       'contact' || (500 + i * 3) || '@client.example', CASE WHEN i % 4 THEN '+49 30 ' || (550100 + i * 137) END
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO tickets (number, contact_id, agent_id, subject, priority, status, opened_at, resolved_at, hours_spent)
SELECT 'T-' || (7001 + i * 4), 1 + (i * 5) % 42, CASE WHEN i % 6 THEN 1 + (i * 7) % 15 END,
       json_extract('["Printer","Invoice","Login","Router","Licence"]', '$[' || (i % 5) || ']') || ' ' || json_extract('["does not answer","shows an error","is missing","needs a change"]', '$[' || ((i / 5) % 4) || ']'),
       json_extract('["low","normal","high","urgent"]', '$[' || ((i * 3) % 4) || ']'), json_extract('["open","pending","open","resolved","closed"]', '$[' || (i % 5) || ']'),
       strftime('%Y-%m-%d %H:%M:00', '2026-01-05 08:00', '+' || (i * 760) || ' minutes'), CASE WHEN i % 5 > 2 THEN strftime('%Y-%m-%d %H:%M:00', '2026-01-05 12:30', '+' || (i * 760 + (i % 9) * 60) || ' minutes') END, (i * 7) % 23
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 149)
INSERT INTO comments (ticket_id, author, body, minutes)
SELECT 1 + (i * 7) % 100, json_extract('["agent","contact","system"]', '$[' || (i % 3) || ']'),
       json_extract('["Asked for a screenshot","Restarted the service","Waiting for the customer","Forwarded to the vendor","Tried again without success"]', '$[' || (i % 5) || ']'), (i * 13) % 95 FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119)
INSERT OR IGNORE INTO ticket_labels (ticket_id, label_id) SELECT 1 + (i * 3) % 100, 1 + i % 6 FROM n;
