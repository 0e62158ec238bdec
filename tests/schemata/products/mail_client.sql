-- A mail client's own store: accounts with secrets, folders in folders, messages with times as seconds, flags as texts, addresses
-- apart, bodies as bytes, a queue of operations beside the table of queues, a search that SQLite keeps, and a view.
CREATE TABLE accounts (account_id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, label TEXT, imap_host TEXT NOT NULL, imap_port INTEGER NOT NULL DEFAULT 993, smtp_host TEXT, "password" TEXT, oauth_token BLOB, signature TEXT DEFAULT '', is_default TEXT NOT NULL DEFAULT 'no', "order" INTEGER);
CREATE TABLE identities (identity_id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE, display_name TEXT, reply_to TEXT);
CREATE TABLE folders (folder_id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts, parent INTEGER REFERENCES folders, name TEXT NOT NULL COLLATE NOCASE, role TEXT CHECK (role IN ('inbox', 'sent', 'trash', 'junk')), uid_validity BIGINT, uid_next BIGINT, subscribed TEXT DEFAULT 'true', UNIQUE (account_id, parent, name));
CREATE TABLE threads (thread_id INTEGER PRIMARY KEY, subject TEXT);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY, folder_id INTEGER NOT NULL REFERENCES folders, uid BIGINT NOT NULL, thread_id INTEGER REFERENCES threads, message_id TEXT, "from" TEXT, subject TEXT, "date" INTEGER, received INTEGER, size INTEGER CHECK (size >= 0),
  seen TEXT NOT NULL DEFAULT 'false' CHECK (seen IN ('true', 'false')), flagged TEXT NOT NULL DEFAULT 'false', answered TEXT NOT NULL DEFAULT 'false', snippet TEXT, day TEXT GENERATED ALWAYS AS (date("date", 'unixepoch')) VIRTUAL, UNIQUE (folder_id, uid));
CREATE TABLE bodies (message INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE, mime BLOB, charset TEXT);
CREATE TABLE addresses (address_id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT);
CREATE TABLE message_addresses (message INTEGER NOT NULL REFERENCES messages (id), address_id INTEGER NOT NULL REFERENCES addresses, kind TEXT NOT NULL CHECK (kind IN ('to', 'cc', 'bcc')), PRIMARY KEY (message, address_id, kind)) WITHOUT ROWID;
CREATE TABLE attachments (id INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES messages (id), filename TEXT, mime_type TEXT, bytes INTEGER, content BLOB);
CREATE TABLE labels (label_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, colour TEXT);
CREATE TABLE message_labels (message INTEGER NOT NULL REFERENCES messages (id), label_id INTEGER NOT NULL REFERENCES labels, PRIMARY KEY (message, label_id));
CREATE TABLE rules (id INTEGER PRIMARY KEY, folder INTEGER NOT NULL REFERENCES folders, name TEXT NOT NULL, condition TEXT NOT NULL, action TEXT NOT NULL, enabled TEXT NOT NULL, stop TEXT NOT NULL);
CREATE TABLE queues (queue_id INTEGER PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE queue (id INTEGER PRIMARY KEY, queue_id INTEGER REFERENCES queues, folder INTEGER, message INTEGER, operation TEXT NOT NULL, arguments JSON, created INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, error TEXT);
CREATE TABLE certificates (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, subject TEXT, data TEXT NOT NULL, intermediate INTEGER NOT NULL, "after" INTEGER, "before" INTEGER);
CREATE TABLE settings (key TEXT, value);
CREATE TABLE "3rd party" (id INTEGER PRIMARY KEY, "vendor name" TEXT, "% share" REAL);
CREATE VIRTUAL TABLE search USING fts5 (subject, body, content = '');
CREATE VIEW unread AS SELECT f.name, COUNT(*) AS total FROM messages m JOIN folders f USING (folder_id) WHERE seen = 'false' GROUP BY f.name;
CREATE TRIGGER message_gone AFTER DELETE ON messages BEGIN DELETE FROM bodies WHERE message = old.id; END;
CREATE INDEX messages_unseen ON messages (folder_id) WHERE seen = 'false';
INSERT INTO accounts VALUES (1, 'ida@firm.example', 'Work', 'imap.firm.example', 993, 'smtp.firm.example', 'hunter2x', x'00ff', 'Best, Ida', 'yes', 1), (2, 'ida@home.example', NULL, 'imap.home.example', 143, NULL, NULL, NULL, '', 'no', 2);
INSERT INTO identities VALUES (1, 1, 'Ida Kern', NULL), (2, 2, 'Ida', 'ida@firm.example');
INSERT INTO folders VALUES (1, 1, NULL, 'INBOX', 'inbox', 1700000001, 60, 'true'), (2, 1, NULL, 'Sent', 'sent', 1700000002, 9, 'true'), (3, 1, 1, 'Büro', NULL, 1700000003, 3, 'false'), (4, 2, NULL, 'INBOX', 'inbox', 4294967296, 1, 'true'), (5, 2, NULL, 'Trash', 'trash', 9007199254740993, 1, 'true');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO threads SELECT i, CASE WHEN i % 4 THEN 'Offer ' || (100 + i) END FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 36)
INSERT INTO messages (id, folder_id, uid, thread_id, message_id, "from", subject, "date", received, size, seen, flagged, answered, snippet)
SELECT i, 1 + i % 5, i, 1 + i % 10, '<' || hex(i * 7919) || '@firm.example>', json_extract('["bo@firm.example","carla@lab.example","no-reply@shop.example"]', '$[' || (i % 3) || ']'), CASE WHEN i % 9 THEN 'Re: {offer} $' || i ELSE '' END, 1760000000 + i * 3600, 1760000100 + i * 3600, 900 + i * 37,
  CASE WHEN i % 3 THEN 'true' ELSE 'false' END, CASE WHEN i % 7 THEN 'false' ELSE 'true' END, 'false', CASE WHEN i = 5 THEN CAST(x'ff41' AS TEXT) ELSE 'Hello ' || i END FROM n;
INSERT INTO bodies SELECT id, x'48656c6c6fff', 'utf-8' FROM messages WHERE id % 2;
INSERT INTO addresses VALUES (1, 'bo@firm.example', 'Bo Lind'), (2, 'carla@lab.example', 'Carla Mora'), (3, 'team@firm.example', NULL), (4, 'ida@firm.example', 'Ida Kern');
INSERT INTO message_addresses SELECT id, 1 + id % 4, CASE WHEN id % 3 THEN 'to' ELSE 'cc' END FROM messages;
INSERT INTO attachments SELECT id, id, 'offer-' || id || '.pdf', 'application/pdf', 1000 + id, x'255044462d' FROM messages WHERE id % 5 = 0;
INSERT INTO labels VALUES (1, 'urgent', '#ff0000'), (2, 'later', '#00ff00'), (3, 'travel', NULL);
INSERT INTO message_labels SELECT id, 1 + id % 3 FROM messages WHERE id % 2 = 0;
INSERT INTO rules VALUES (1, 1, 'Shop', '{"from": "shop"}', 'move', 'on', 'off'), (2, 1, 'Team', '{"to": "team"}', 'label', 'off', 'off'), (3, 4, 'Old', '{}', 'delete', 'on', 'on');
INSERT INTO queues VALUES (1, 'send'), (2, 'move');
INSERT INTO queue SELECT id, 1 + id % 2, 1, id, CASE WHEN id % 2 THEN 'seen' ELSE 'move' END, '{"seen": true}', 1760000000 + id, 0, NULL FROM messages WHERE id < 9;
INSERT INTO certificates VALUES (1, 'ab:cd', 'CN=firm', 'MIIB', 0, 1700000000, 1800000000);
INSERT INTO settings VALUES ('theme', 'dark'), ('zoom', 2), ('ratio', 1.5), (NULL, x'00'), ('theme', NULL);
INSERT INTO "3rd party" VALUES (1, 'Acme Tools', 12.5), (2, 'Bolt & Sons', 40.0), (3, '100% Wool', 47.5);
