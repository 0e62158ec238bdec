-- A gateway in front of services: texts as keys that a program draws, times as seconds since 1970, settings in JSON, tags as lists,
-- one row of a default workspace, no rows otherwise.
CREATE TABLE workspaces (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, comment TEXT, created_at INTEGER, meta TEXT, config TEXT);
CREATE TABLE services (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, ws_id TEXT REFERENCES workspaces (id), protocol TEXT NOT NULL CHECK (protocol IN ('http', 'https', 'grpc', 'tcp')), host TEXT NOT NULL, port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535), path TEXT, retries INTEGER NOT NULL CHECK (retries BETWEEN 0 AND 20), connect_timeout INTEGER NOT NULL, read_timeout INTEGER NOT NULL, enabled BOOLEAN NOT NULL, tags TEXT, created_at INTEGER, updated_at INTEGER);
CREATE TABLE routes (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, service_id TEXT REFERENCES services (id), ws_id TEXT REFERENCES workspaces (id), methods TEXT, paths TEXT, regex_priority INTEGER, strip_path BOOLEAN, preserve_host BOOLEAN, https_redirect_status_code INTEGER, created_at INTEGER);
CREATE TABLE upstreams (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, ws_id TEXT REFERENCES workspaces (id), algorithm TEXT NOT NULL CHECK (algorithm IN ('round-robin', 'least-connections', 'consistent-hashing')), hash_on TEXT, slots INTEGER NOT NULL CHECK (slots BETWEEN 10 AND 65536), created_at INTEGER);
CREATE TABLE targets (id TEXT PRIMARY KEY, upstream_id TEXT NOT NULL REFERENCES upstreams (id), target TEXT NOT NULL, weight INTEGER NOT NULL CHECK (weight BETWEEN 0 AND 1000), tags TEXT, created_at INTEGER, UNIQUE (upstream_id, target));
CREATE TABLE consumers (id TEXT PRIMARY KEY, username TEXT UNIQUE NOT NULL, custom_id TEXT UNIQUE, ws_id TEXT REFERENCES workspaces (id), tags TEXT, created_at INTEGER);
CREATE TABLE consumer_groups (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, ws_id TEXT REFERENCES workspaces (id), created_at INTEGER);
CREATE TABLE consumer_group_consumers (consumer_group_id TEXT NOT NULL REFERENCES consumer_groups (id), consumer_id TEXT NOT NULL REFERENCES consumers (id), created_at INTEGER, PRIMARY KEY (consumer_group_id, consumer_id));
CREATE TABLE plugins (id TEXT PRIMARY KEY, name TEXT NOT NULL, service_id TEXT REFERENCES services (id), route_id TEXT REFERENCES routes (id), consumer_id TEXT REFERENCES consumers (id), config TEXT NOT NULL, enabled BOOLEAN NOT NULL, ordering INTEGER, instance_name TEXT UNIQUE, created_at INTEGER);
CREATE TABLE certificates (id TEXT PRIMARY KEY, cert TEXT, key TEXT, passphrase TEXT, valid_until DATE, created_at INTEGER);
CREATE TABLE snis (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, certificate_id TEXT REFERENCES certificates (id), created_at INTEGER);
CREATE TABLE key_credentials (id TEXT PRIMARY KEY, consumer_id TEXT NOT NULL REFERENCES consumers (id), key TEXT NOT NULL, ttl INTEGER, created_at INTEGER);
CREATE TABLE acls (id TEXT PRIMARY KEY, consumer_id TEXT NOT NULL REFERENCES consumers (id), "group" TEXT NOT NULL, created_at INTEGER);
CREATE TABLE rate_limits (id TEXT PRIMARY KEY, service_id TEXT NOT NULL REFERENCES services (id), consumer_id TEXT REFERENCES consumers (id), period TEXT NOT NULL CHECK (period IN ('second', 'minute', 'hour', 'day')), max_requests INTEGER NOT NULL CHECK (max_requests > 0), UNIQUE (service_id, consumer_id, period));
CREATE TABLE request_counts (service_id TEXT NOT NULL REFERENCES services (id), day DATE NOT NULL, status_code INTEGER NOT NULL, request_count INTEGER NOT NULL, total_bytes BIGINT NOT NULL, PRIMARY KEY (service_id, day, status_code));
CREATE TABLE cluster_events (id TEXT PRIMARY KEY, node_id TEXT NOT NULL, channel TEXT, data TEXT, at INTEGER NOT NULL, expire_at INTEGER NOT NULL);
CREATE TABLE schema_meta (key TEXT NOT NULL, subsystem TEXT NOT NULL, last_executed TEXT, executed TEXT, PRIMARY KEY (key, subsystem));
INSERT INTO workspaces VALUES ('0f5e2a50-3a44-4f6f-9d0b-2f9f35c6a111', 'default', NULL, 1700000000, NULL, NULL);
INSERT INTO schema_meta VALUES ('schema', 'core', '016_280', '["000_base", "016_280"]');
