-- For MariaDB and MySQL: schema.sql, and keys that the database hands out, as SQLite does for an INTEGER PRIMARY KEY.

source schema.sql

SET foreign_key_checks = 0; -- columns that foreign keys point at cannot be modified otherwise
ALTER TABLE customers       MODIFY customer_id   INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE addresses       MODIFY address_id    INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE categories      MODIFY category_id   INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE products        MODIFY product_id    INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE variants        MODIFY variant_id    INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE orders          MODIFY order_id      INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE order_items     MODIFY order_item_id INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE stock_movements MODIFY movement_id   INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE shipments       MODIFY shipment_id   INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE gift_cards      MODIFY gift_card_id  INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE payments        MODIFY payment_id    INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE returns         MODIFY return_id     INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE refunds         MODIFY refund_id     INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE credits         MODIFY credit_id     INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE messages        MODIFY message_id    INTEGER NOT NULL AUTO_INCREMENT;
ALTER TABLE escalations     MODIFY escalation_id INTEGER NOT NULL AUTO_INCREMENT;
SET foreign_key_checks = 1;
