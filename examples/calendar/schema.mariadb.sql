-- For MariaDB and MySQL: schema.sql, and keys that the database hands out.

source schema.sql

SET foreign_key_checks = 0; -- columns that foreign keys point at cannot be modified otherwise
ALTER TABLE events MODIFY event_id INTEGER NOT NULL AUTO_INCREMENT;
SET foreign_key_checks = 1;
