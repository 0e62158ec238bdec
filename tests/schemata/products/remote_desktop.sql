-- A gateway to remote desktops: entities that are users or groups, connections with free parameters, permissions with
-- keys of several columns, hashes and salts as bytes, and histories that outlive what they are about.
CREATE TABLE gateway_entity (entity_id INTEGER PRIMARY KEY, name VARCHAR(128) NOT NULL, type TEXT NOT NULL CHECK (type IN ('USER', 'USER_GROUP')), UNIQUE (type, name));
CREATE TABLE gateway_user (
  user_id INTEGER PRIMARY KEY, entity_id INTEGER NOT NULL UNIQUE REFERENCES gateway_entity ON DELETE CASCADE, password_hash BLOB NOT NULL,
  password_salt BLOB, password_date TIMESTAMP NOT NULL, disabled BOOLEAN NOT NULL DEFAULT 'f', expired BOOLEAN NOT NULL DEFAULT 'f',
  access_window_start TIME, access_window_end TIME, valid_from DATE, valid_until DATE, timezone VARCHAR(64), full_name VARCHAR(256),
  email_address VARCHAR(256), organization VARCHAR(256), organizational_role VARCHAR(256));
CREATE TABLE gateway_user_group (user_group_id INTEGER PRIMARY KEY, entity_id INTEGER NOT NULL UNIQUE REFERENCES gateway_entity, disabled BOOLEAN NOT NULL DEFAULT 'f');
CREATE TABLE gateway_user_group_member (user_group_id INTEGER NOT NULL REFERENCES gateway_user_group, member_entity_id INTEGER NOT NULL REFERENCES gateway_entity, PRIMARY KEY (user_group_id, member_entity_id));
CREATE TABLE connection_group (
  connection_group_id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES connection_group, connection_group_name VARCHAR(128) NOT NULL,
  type TEXT NOT NULL DEFAULT 'ORGANIZATIONAL' CHECK (type IN ('ORGANIZATIONAL', 'BALANCING')), max_connections INTEGER, max_connections_per_user INTEGER,
  enable_session_affinity BOOLEAN NOT NULL DEFAULT 'f', UNIQUE (connection_group_name, parent_id));
CREATE TABLE connection (
  connection_id INTEGER PRIMARY KEY, connection_name VARCHAR(128) NOT NULL, parent_id INTEGER REFERENCES connection_group, protocol VARCHAR(32) NOT NULL,
  max_connections INTEGER, max_connections_per_user INTEGER, connection_weight INTEGER, failover_only BOOLEAN NOT NULL DEFAULT 'f',
  proxy_port INTEGER, proxy_hostname VARCHAR(512), proxy_encryption_method TEXT CHECK (proxy_encryption_method IN ('NONE', 'SSL')), UNIQUE (connection_name, parent_id));
CREATE TABLE connection_parameter (connection_id INTEGER NOT NULL REFERENCES connection ON DELETE CASCADE, parameter_name VARCHAR(128) NOT NULL, parameter_value VARCHAR(4096) NOT NULL, PRIMARY KEY (connection_id, parameter_name));
CREATE TABLE sharing_profile (sharing_profile_id INTEGER PRIMARY KEY, sharing_profile_name VARCHAR(128) NOT NULL, primary_connection_id INTEGER NOT NULL REFERENCES connection, UNIQUE (sharing_profile_name, primary_connection_id));
CREATE TABLE sharing_profile_parameter (sharing_profile_id INTEGER NOT NULL REFERENCES sharing_profile, parameter_name VARCHAR(128) NOT NULL, parameter_value VARCHAR(4096) NOT NULL, PRIMARY KEY (sharing_profile_id, parameter_name));
CREATE TABLE gateway_user_attribute (user_id INTEGER NOT NULL REFERENCES gateway_user, attribute_name VARCHAR(128) NOT NULL, attribute_value VARCHAR(4096) NOT NULL, PRIMARY KEY (user_id, attribute_name));
CREATE TABLE connection_attribute (connection_id INTEGER NOT NULL REFERENCES connection, attribute_name VARCHAR(128) NOT NULL, attribute_value VARCHAR(4096) NOT NULL, PRIMARY KEY (connection_id, attribute_name));
CREATE TABLE connection_permission (entity_id INTEGER NOT NULL REFERENCES gateway_entity, connection_id INTEGER NOT NULL REFERENCES connection, permission TEXT NOT NULL CHECK (permission IN ('READ', 'UPDATE', 'DELETE', 'ADMINISTER')), PRIMARY KEY (entity_id, connection_id, permission));
CREATE TABLE system_permission (entity_id INTEGER NOT NULL REFERENCES gateway_entity, permission TEXT NOT NULL CHECK (permission IN ('CREATE_CONNECTION', 'CREATE_USER', 'AUDIT', 'ADMINISTER')), PRIMARY KEY (entity_id, permission));
CREATE TABLE connection_history (
  history_id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES gateway_user ON DELETE SET NULL, username VARCHAR(128) NOT NULL, remote_host VARCHAR(256),
  connection_id INTEGER REFERENCES connection ON DELETE SET NULL, connection_name VARCHAR(128) NOT NULL, sharing_profile_id INTEGER REFERENCES sharing_profile,
  start_date TIMESTAMP NOT NULL, end_date TIMESTAMP);
CREATE TABLE gateway_user_history (history_id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES gateway_user, username VARCHAR(128) NOT NULL, remote_host VARCHAR(256), start_date TIMESTAMP NOT NULL, end_date TIMESTAMP);
CREATE TABLE gateway_user_password_history (password_history_id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES gateway_user, password_hash BLOB NOT NULL, password_salt BLOB, password_date TIMESTAMP NOT NULL);
CREATE INDEX connection_history_start ON connection_history (start_date);
CREATE INDEX connection_history_open ON connection_history (connection_id, start_date) WHERE end_date IS NULL;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
INSERT INTO gateway_entity SELECT i, CASE WHEN i > 9 THEN 'team-' || i ELSE json_extract('["ida","bo","carla","dirk","eva","finn","gero","hana","ivo"]', '$[' || (i - 1) || ']') END, CASE WHEN i > 9 THEN 'USER_GROUP' ELSE 'USER' END FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO gateway_user SELECT i, i, x'00ff10', CASE WHEN i % 2 THEN x'aa' END, '2025-11-0' || i || ' 08:30:00', CASE WHEN i = 4 THEN 't' ELSE 'f' END, 'f',
  CASE WHEN i % 3 = 0 THEN '08:00:00' END, CASE WHEN i % 3 = 0 THEN '18:00:00' END, '2025-01-01', CASE WHEN i = 2 THEN '' END, 'Europe/Berlin', NULL, NULL, json_extract('["Sales","Lab","Office"]', '$[' || (i % 3) || ']'), '' FROM n;
INSERT INTO gateway_user_group VALUES (1, 10, 'f'), (2, 11, 'f'), (3, 12, 't');
INSERT INTO gateway_user_group_member SELECT 1 + user_id % 3, entity_id FROM gateway_user;
INSERT INTO connection_group VALUES (1, NULL, 'Offices', 'ORGANIZATIONAL', NULL, NULL, 'f'), (2, 1, 'Hamburg', 'BALANCING', 10, 2, 't'), (3, 1, 'Porto', 'BALANCING', 8, 8, 'f');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 14)
INSERT INTO connection SELECT i, 'desk-' || printf('%02d', i), 1 + i % 3, json_extract('["rdp","ssh","vnc"]', '$[' || (i % 3) || ']'), 1 + i % 5, 1 + i % 2, NULL, CASE WHEN i % 4 THEN 'f' ELSE 't' END, 4822, 'proxy.internal', CASE WHEN i % 5 THEN 'NONE' END FROM n;
INSERT INTO connection_parameter SELECT connection_id, 'hostname', 'host' || connection_id || '.internal' FROM connection;
INSERT INTO connection_parameter SELECT connection_id, 'password', '${GATEWAY_TOKEN}' FROM connection WHERE connection_id % 2;
INSERT INTO sharing_profile VALUES (1, 'watch', 1), (2, 'watch', 2), (3, 'help', 2);
INSERT INTO gateway_user_attribute SELECT user_id, 'totp-key-secret', hex(user_id * 7919) FROM gateway_user WHERE user_id < 4;
INSERT INTO connection_permission SELECT e.entity_id, c.connection_id, 'READ' FROM gateway_entity e JOIN connection c ON (e.entity_id + c.connection_id) % 3 = 0;
INSERT INTO system_permission VALUES (1, 'ADMINISTER'), (1, 'CREATE_USER'), (2, 'AUDIT');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO connection_history SELECT i, CASE WHEN i % 9 THEN i % 9 END, 'someone', '10.0.0.' || i, 1 + i % 14, 'desk', NULL, datetime('2026-01-01 09:00', '+' || i || ' hours'), CASE WHEN i % 10 THEN datetime('2026-01-01 09:30', '+' || i || ' hours') END FROM n;
INSERT INTO gateway_user_history SELECT history_id, user_id, username, remote_host, start_date, end_date FROM connection_history WHERE history_id < 9;
INSERT INTO gateway_user_password_history SELECT user_id, user_id, password_hash, password_salt, password_date FROM gateway_user WHERE user_id < 6;
