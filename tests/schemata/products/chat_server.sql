-- A server of a federated chat: texts as keys, times as milliseconds since 1970, flags as small numbers, JSON in texts, rows of one
-- lock, twins of one idea (receipts), tables without a key, full text search, and tokens.
CREATE TABLE users (name TEXT PRIMARY KEY, password_hash TEXT, creation_ts BIGINT, admin SMALLINT DEFAULT 0 NOT NULL, upgrade_ts BIGINT, is_guest SMALLINT DEFAULT 0 NOT NULL, appservice_id TEXT, consent_version TEXT, user_type TEXT, deactivated SMALLINT DEFAULT 0 NOT NULL, shadow_banned BOOLEAN, locked BOOLEAN DEFAULT FALSE);
CREATE TABLE profiles (user_id TEXT NOT NULL UNIQUE, displayname TEXT, avatar_url TEXT, full_user_id TEXT);
CREATE TABLE access_tokens (id BIGINT PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT, token TEXT NOT NULL UNIQUE, valid_until_ms BIGINT, used BOOLEAN, last_validated BIGINT);
CREATE TABLE refresh_tokens (id BIGINT PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, token TEXT NOT NULL UNIQUE, next_token_id BIGINT REFERENCES refresh_tokens (id) ON DELETE CASCADE);
CREATE TABLE devices (user_id TEXT NOT NULL, device_id TEXT NOT NULL, display_name TEXT, last_seen BIGINT, ip TEXT, user_agent TEXT, hidden BOOLEAN DEFAULT 0, CONSTRAINT device_uniqueness UNIQUE (user_id, device_id));
CREATE TABLE user_ips (user_id TEXT NOT NULL, access_token TEXT NOT NULL, device_id TEXT, ip TEXT NOT NULL, user_agent TEXT NOT NULL, last_seen BIGINT NOT NULL);
CREATE TABLE rooms (room_id TEXT PRIMARY KEY NOT NULL, is_public BOOL, creator TEXT, room_version TEXT, has_auth_chain_index BOOLEAN);
CREATE TABLE room_aliases (room_alias TEXT NOT NULL, room_id TEXT NOT NULL, creator TEXT, UNIQUE (room_alias));
CREATE TABLE room_alias_servers (room_alias TEXT NOT NULL, server TEXT NOT NULL);
CREATE TABLE events (stream_ordering INTEGER PRIMARY KEY, topological_ordering BIGINT NOT NULL, event_id TEXT NOT NULL, type TEXT NOT NULL, room_id TEXT NOT NULL, content TEXT, processed BOOL NOT NULL, outlier BOOL NOT NULL, depth BIGINT DEFAULT 0 NOT NULL, origin_server_ts BIGINT, received_ts BIGINT, sender TEXT, contains_url BOOLEAN, state_key TEXT DEFAULT NULL, UNIQUE (event_id));
CREATE TABLE event_json (event_id TEXT NOT NULL, room_id TEXT NOT NULL, internal_metadata TEXT NOT NULL, json TEXT NOT NULL, format_version INTEGER, UNIQUE (event_id));
CREATE TABLE event_edges (event_id TEXT NOT NULL, prev_event_id TEXT NOT NULL, room_id TEXT NULL, is_state BOOL NOT NULL DEFAULT 0, FOREIGN KEY (event_id) REFERENCES events (event_id));
CREATE TABLE room_memberships (event_id TEXT NOT NULL, user_id TEXT NOT NULL, sender TEXT NOT NULL, room_id TEXT NOT NULL, membership TEXT NOT NULL, forgotten INTEGER DEFAULT 0, display_name TEXT, UNIQUE (event_id));
CREATE TABLE receipts_linearized (stream_id BIGINT NOT NULL, room_id TEXT NOT NULL, receipt_type TEXT NOT NULL, user_id TEXT NOT NULL, event_id TEXT NOT NULL, data TEXT NOT NULL, thread_id TEXT);
CREATE TABLE receipts_graph (room_id TEXT NOT NULL, receipt_type TEXT NOT NULL, user_id TEXT NOT NULL, event_ids TEXT NOT NULL, data TEXT NOT NULL, thread_id TEXT);
CREATE TABLE push_rules (id BIGINT PRIMARY KEY, user_name TEXT NOT NULL, rule_id TEXT NOT NULL, priority_class SMALLINT NOT NULL, priority INTEGER NOT NULL DEFAULT 0, conditions TEXT NOT NULL, actions TEXT NOT NULL, UNIQUE (user_name, rule_id));
CREATE TABLE pushers (id BIGINT PRIMARY KEY, user_name TEXT NOT NULL, profile_tag TEXT NOT NULL, kind TEXT NOT NULL, app_id TEXT NOT NULL, pushkey TEXT NOT NULL, ts BIGINT NOT NULL, lang TEXT, data TEXT, last_success BIGINT, enabled BOOLEAN, UNIQUE (app_id, pushkey, user_name));
CREATE TABLE local_media_repository (media_id TEXT UNIQUE, media_type TEXT, media_length INTEGER, created_ts BIGINT, upload_name TEXT, user_id TEXT, quarantined_by TEXT, url_cache TEXT, safe_from_quarantine BOOLEAN NOT NULL DEFAULT FALSE);
CREATE TABLE background_updates (update_name TEXT NOT NULL, progress_json TEXT NOT NULL, depends_on TEXT, ordering INT NOT NULL DEFAULT 0, CONSTRAINT background_updates_uniqueness UNIQUE (update_name));
CREATE TABLE schema_version (Lock CHAR(1) NOT NULL DEFAULT 'X' UNIQUE, version INTEGER NOT NULL, upgraded BOOL NOT NULL, CHECK (Lock = 'X'));
CREATE TABLE stats_incremental_position (Lock CHAR(1) NOT NULL DEFAULT 'X' UNIQUE, stream_id BIGINT NOT NULL, CHECK (Lock = 'X'));
CREATE VIRTUAL TABLE event_search USING fts5 (event_id, room_id, sender, key, value);
CREATE UNIQUE INDEX receipts_unthreaded ON receipts_linearized (room_id, receipt_type, user_id) WHERE thread_id IS NULL;
CREATE INDEX events_url ON events (room_id, stream_ordering) WHERE contains_url = 1 AND outlier = 0;
CREATE UNIQUE INDEX users_lower ON users (lower(name));
CREATE TRIGGER events_search AFTER INSERT ON events WHEN new.type = 'm.room.message' BEGIN INSERT INTO event_search VALUES (new.event_id, new.room_id, new.sender, 'content.body', new.content); END;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO users SELECT '@' || json_extract('["ida","bo","carla","dirk","eva","finn","gero","hana","ivo","jan"]', '$[' || i || ']') || ':chat.example', '$2b$12$' || hex(i * 7919), 1700000000 + i * 86400, i = 0, NULL, i > 7, NULL, NULL, NULL, i = 6, NULL, 'false' FROM n;
INSERT INTO profiles SELECT substr(name, 2, instr(name, ':') - 2), NULL, NULL, name FROM users;
INSERT INTO devices SELECT name, 'DEV' || upper(substr(name, 2, 3)), 'Phone of ' || substr(name, 2, 3), 1760000000123, '10.0.0.7', 'App/1.0', 0 FROM users;
INSERT INTO access_tokens SELECT row_number() OVER (), name, NULL, 'syt_' || hex(name), NULL, 'f', NULL FROM users;
INSERT INTO user_ips SELECT name, 'syt_' || hex(name), NULL, '10.0.0.7', 'App/1.0', 1760000000123 FROM users;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
INSERT INTO rooms SELECT '!room' || i || ':chat.example', i % 2, '@ida:chat.example', json_extract('["9","10","11"]', '$[' || (i % 3) || ']'), 1 FROM n;
INSERT INTO room_aliases SELECT '#' || substr(room_id, 2), room_id, NULL FROM rooms;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO events SELECT i, i, '$event' || i, CASE WHEN i % 4 THEN 'm.room.message' ELSE 'm.room.member' END, '!room' || (1 + i % 5) || ':chat.example', CASE WHEN i % 3 THEN '{"body": "hello ' || i || '"}' END, 1, 0, i, 1760000000000 + i, 1760000000100 + i, (SELECT name FROM users WHERE users.rowid = 1 + i % 10), 0, CASE WHEN i % 4 THEN NULL ELSE '' END FROM n;
INSERT INTO event_json SELECT event_id, room_id, '{}', '{"type": "' || type || '", "content": {}}', 3 FROM events;
INSERT INTO event_edges SELECT '$event' || (stream_ordering + 1), event_id, NULL, 0 FROM events WHERE stream_ordering < 40;
INSERT INTO room_memberships SELECT event_id, sender, sender, room_id, json_extract('["join","leave","invite"]', '$[' || (stream_ordering % 3) || ']'), 0, NULL FROM events WHERE type = 'm.room.member';
INSERT OR IGNORE INTO receipts_linearized SELECT stream_ordering, room_id, 'm.read', sender, event_id, '{"ts": 1}', NULL FROM events;
INSERT INTO receipts_graph SELECT room_id, receipt_type, user_id, '["' || event_id || '"]', data, NULL FROM receipts_linearized;
INSERT INTO push_rules SELECT row_number() OVER (), name, 'global/override/.mute', 5, 0, '[]', '["dont_notify"]' FROM users;
INSERT INTO schema_version VALUES ('X', 84, 0);
INSERT INTO stats_incremental_position VALUES ('X', 40);
