-- The half that the classifier was tuned on. A heading names the category that the statements below it were written
-- to cause, and the engines; one case a line; " ;; " parts the statements of a case, of which the last one fails.

-- column_not_found: sqlite postgresql mysql
SELECT nme FROM products
SELECT p.nme FROM products p
SELECT name, cost FROM products
SELECT name FROM products WHERE colour = 'red'
SELECT name FROM products ORDER BY popularity
SELECT count(*) FROM orders GROUP BY state
UPDATE products SET cost = 3 WHERE product_id = 1
UPDATE products SET price = cost
INSERT INTO products (product_id, title) VALUES (7, 'x')
DELETE FROM orders WHERE id = 1
SELECT o.order_id FROM orders o JOIN customers c ON o.client_id = c.customer_id
SELECT max(total) FROM orders
SELECT upper(label) FROM products
SELECT * FROM (SELECT name FROM products) s WHERE s.price > 1
SELECT name FROM products WHERE product_id IN (SELECT item FROM order_items)
WITH t AS (SELECT name FROM products) SELECT price FROM t
SELECT CASE WHEN vip = 1 THEN 'a' END FROM customers
SELECT c.name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.client = c.customer_id)
INSERT INTO orders (order_id, customer) SELECT 9, customer_id FROM customers
SELECT open_orders.total FROM open_orders

-- column_not_found: postgresql
SELECT products.nme FROM products
ALTER TABLE products DROP COLUMN cost
SELECT row_number() OVER (ORDER BY cost) FROM products
SELECT (SELECT p.cost) FROM products p
UPDATE products p SET price = 1 FROM orders o WHERE o.item = p.product_id

-- column_not_found: mysql
SELECT `nme` FROM products
ALTER TABLE products DROP COLUMN cost
CREATE INDEX by_cost ON products (cost)

-- table_not_found: sqlite postgresql mysql
SELECT * FROM product
INSERT INTO client (name) VALUES ('x')
UPDATE item SET price = 1
DELETE FROM basket
SELECT 1 FROM orders o JOIN client c ON o.customer_id = c.customer_id
SELECT * FROM archive.orders
DROP TABLE absent
ALTER TABLE absent ADD COLUMN a INTEGER
DROP VIEW absent
INSERT INTO products (product_id, name, stock) SELECT id, name, 1 FROM stock_list
SELECT absent.* FROM orders
SELECT (SELECT max(price) FROM prices)
SELECT name FROM products WHERE product_id IN (SELECT product_id FROM basket_items)
WITH t AS (SELECT * FROM elsewhere) SELECT * FROM t
CREATE INDEX by_x ON absent (x)

-- table_not_found: sqlite postgresql mysql, wrapped
SELECT c.name FROM orders
SELECT name FROM customers c WHERE o.order_id = 1
SELECT products.name FROM orders

-- table_not_found: postgresql
SELECT products.name FROM products p
SELECT 1 FROM no_schema.products
CREATE TABLE no_schema.t (a integer)
TRUNCATE absent
SET LOCAL search_path = nowhere ;; SELECT * FROM products
LOCK TABLE absent
INSERT INTO archive.orders VALUES (1)

-- table_not_found: mysql
TRUNCATE TABLE absent
SHOW COLUMNS FROM absent
USE no_such_database
DESCRIBE absent

-- syntax_error: sqlite postgresql mysql
SELEC 1
SELECT name FROM products WHERE
SELECT name FROM products GROUP
SELECT name, FROM products
INSERT INTO products (product_id, name) VALUES (9)
INSERT INTO orders VALUES (9, 1, NULL, 'new', 5, 6)
SELECT 1 UNION SELECT 1, 2
SELECT * FROM products ORDER BY 9
SELECT name FROM products WHERE name = 'tea
SELECT (1 + 2 FROM products
UPDATE products price = 3
DELETE products WHERE product_id =
SELECT * FORM products
SELECT name FROM products LIMIT 1 WHERE price > 1
SELECT name FROM products WHERE price >> > 1
CREATE TABLE t (a INTEGER,)
SELECT (SELECT 1, 2)
INSERT products INTO VALUES (1)
SELECT CASE WHEN price > 1 THEN 'a' FROM products
SELECT name FROM products WHERE product_id IN (1, 2
SELECT 1 FROM products WHERE (price, stock) IN (SELECT price FROM products)
ALTER products ADD x INTEGER

-- syntax_error: postgresql
SELECT `name` FROM products
SELECT name FROM products LIMIT 1, 2
SELECT $$unclosed
INSERT INTO products (name, name) VALUES ('a', 'b')
UPDATE products SET price = 1, price = 2
SELECT 1 AS FROM products
SELECT DISTINCT name FROM products ORDER BY price
CREATE TABLE t (a integer, a integer)

-- syntax_error: mysql
SELECT name FROM products WHERE name ILIKE 'a'
SELECT name::text FROM products
INSERT INTO products (name, name) VALUES ('a', 'b')
SELECT * FROM (SELECT 1)
SELECT TOP 3 name FROM products

-- syntax_error: sqlite
SELECT name FROM products WHERE name = 'a' AND [price
SELECT TOP 3 name FROM products
SELECT name FROM products FETCH FIRST 2 ROWS ONLY
INSERT INTO products VALUES (1, 'a'), (2)

-- type_mismatch: sqlite postgresql mysql
SELECT nosuch(price) FROM products
SELECT median_price(price, 2) FROM products
UPDATE products SET name = initials(name)
INSERT INTO products (product_id, name, stock) VALUES ('abc', 'x', 1)

-- type_mismatch: postgresql mysql
UPDATE products SET stock = 'many'
INSERT INTO products (product_id, name, stock) VALUES (9, 'a name that is longer than twenty', 1)
UPDATE products SET stock = 99999999999
INSERT INTO orders (order_id, customer_id, ordered_at) VALUES (9, 1, 'yesterday noon')
UPDATE customers SET born = '2026-13-45'
UPDATE products SET price = 123456789012.5
INSERT INTO customers (customer_id, name, born) VALUES (9, 'x', 'soon')

-- type_mismatch: postgresql
SELECT 'x'::integer
SELECT 99999999999::integer
SELECT name + 1 FROM products
SELECT 1::nosuchtype
SELECT '2026-02-30'::date
SELECT * FROM products WHERE name = 5
SELECT * FROM orders WHERE ordered_at LIKE '2026'
SELECT sum(name) FROM products
SELECT name FROM products WHERE price
SELECT CASE WHEN true THEN 1 ELSE 'x'::text END
SELECT 1 UNION SELECT 'a'::text
SELECT 'abc'::boolean
SELECT '{bad'::json
SELECT 'x'::uuid
SELECT date_trunc('fortnight', now())
SELECT to_date('x', 'YYYY')
SELECT upper(1)
SELECT substring(price from 1) FROM products
SELECT name COLLATE "xx_YY" FROM products
SELECT round(1.5::float8, 2)
SELECT 'a' ~ '['
UPDATE products SET price = now()
SELECT coalesce(1, 'x'::text)
SELECT array[1, 'x'::text]
SELECT chr(0)
SELECT '12:99'::time
SELECT percentile_cont(0.5) FROM products

-- type_mismatch: mysql
SELECT substring_index('a')
UPDATE orders SET ordered_at = '2026-02-30 10:00:00'
SELECT 'a' REGEXP '['
SELECT st_geomfromtext(1, 2, 3, 4, 5)
SELECT concat_rows(name) FROM products
SELECT name COLLATE nothing_ci FROM products
CALL no_such_procedure()
UPDATE products SET price = 'cheap'

-- type_mismatch: sqlite
SELECT abs(1, 2)
SELECT json('{')
SELECT substr('a')
SELECT name FROM products ORDER BY name COLLATE german
SELECT json_extract('{"a": 1}', 'a[')
SELECT date_format(ordered_at, 'x') FROM orders
SELECT count(1, 2) FROM products
INSERT INTO strict_numbers VALUES ('x')

-- join_error: sqlite postgresql mysql
SELECT order_id FROM orders JOIN order_items ON orders.order_id = order_items.order_id
SELECT name FROM customers, products
SELECT o.order_id FROM orders o JOIN customers c ON customer_id = 1
SELECT 1 FROM orders o JOIN order_items i ON o.order_id = i.order_id WHERE order_id = 1
SELECT p.price FROM products p JOIN customers c ON 1 = 1 ORDER BY p.price, lower(name)
SELECT 1 FROM products JOIN orders USING (product_id)
SELECT 1 FROM orders JOIN customers USING (client_id)
SELECT count(*) FROM customers c JOIN products p ON 1 = 1 GROUP BY name
SELECT max(name) FROM customers CROSS JOIN products
SELECT a.name FROM products a JOIN products b ON a.product_id = b.parent_id WHERE price > 1

-- join_error: postgresql mysql
SELECT 1 FROM products p JOIN orders p ON true
SELECT 1 FROM orders, orders

-- join_error: postgresql
SELECT 1 FROM products JOIN orders ON 1
SELECT 1 FROM orders o JOIN customers c ON o.customer_id
SELECT 1 FROM products JOIN customers ON 'maybe'::text
WITH a AS (SELECT 1), a AS (SELECT 2) SELECT 1

-- join_error: sqlite
SELECT * FROM orders NATURAL JOIN customers ON 1
WITH x AS (SELECT 1), x AS (SELECT 2) SELECT 1

-- aggregation_error: sqlite postgresql mysql
SELECT name FROM products WHERE sum(price) > 1
SELECT name FROM products WHERE row_number() OVER () = 1
SELECT sum(sum(price)) FROM products
SELECT count(*) FROM products GROUP BY sum(price)
UPDATE products SET price = max(price)
SELECT name FROM products WHERE count(*) > 1 GROUP BY name
SELECT sum(row_number() OVER ()) FROM products
SELECT 1 FROM orders o JOIN order_items i ON count(*) = 1
DELETE FROM products WHERE price = max(price)
SELECT name, rank() OVER (ORDER BY price) AS r FROM products GROUP BY rank() OVER (ORDER BY price)
SELECT sum(price) OVER w FROM products

-- aggregation_error: postgresql mysql
SELECT name, sum(price) FROM products
SELECT status, customer_id FROM orders GROUP BY status
SELECT name, count(*) FROM products HAVING count(*) > 1

-- aggregation_error: postgresql
SELECT row_number() FROM products
SELECT lower(name) OVER () FROM products
SELECT count(DISTINCT name) OVER () FROM products
SELECT lower(DISTINCT name) FROM products
SELECT name FROM products GROUP BY 9
SELECT rank(1) FILTER (WHERE true) OVER () FROM products
SELECT lag(price) FROM products
SELECT p.name, c.name FROM products p, customers c GROUP BY p.name
SELECT lower(name) FILTER (WHERE true) FROM products
SELECT count(*) OVER (ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM products
SELECT count(generate_series(1, 2)) OVER (ORDER BY sum(1)), name FROM products

-- aggregation_error: sqlite
SELECT 1 FROM products HAVING price > 1
SELECT row_number() FROM products
SELECT lower(name) OVER () FROM products
SELECT count(DISTINCT name) OVER () FROM products
SELECT lower(name) FILTER (WHERE 1) FROM products

-- aggregation_error: mysql
SELECT count(*) AS c FROM products GROUP BY c
SELECT ntile(0) OVER () FROM products WHERE rank() OVER () = 1

-- timeout: postgresql
SET LOCAL statement_timeout = 20 ;; SELECT pg_sleep(5)
SET LOCAL statement_timeout = 20 ;; SELECT count(*) FROM generate_series(1, 100000000)

-- timeout: mysql
SET STATEMENT max_statement_time = 0.02 FOR SELECT sleep(5) FROM products WHERE sleep(5)
SET STATEMENT max_statement_time = 0.02 FOR SELECT count(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c

-- permission_denied: postgresql
SET LOCAL ROLE pg_monitor ;; SELECT * FROM orders
SET LOCAL ROLE pg_monitor ;; DROP TABLE orders
SET TRANSACTION READ ONLY ;; DELETE FROM orders
SET TRANSACTION READ ONLY ;; CREATE TABLE t (a integer)
SET LOCAL ROLE pg_monitor ;; CREATE ROLE intruder
SET LOCAL ROLE pg_monitor ;; COPY orders TO PROGRAM 'cat'
SET LOCAL ROLE pg_monitor ;; SELECT pg_read_file('/etc/passwd')
SET TRANSACTION READ ONLY ;; SELECT nextval('numbers')

-- permission_denied: mysql
START TRANSACTION READ ONLY ;; DELETE FROM orders
START TRANSACTION READ ONLY ;; INSERT INTO customers (customer_id, name) VALUES (8, 'x')
INSERT INTO information_schema.tables (table_name) VALUES ('x')
LOCK TABLES ledger READ ;; DELETE FROM ledger

-- permission_denied: sqlite
PRAGMA query_only = 1 ;; DELETE FROM orders
PRAGMA query_only = 1 ;; CREATE TABLE t (a INTEGER)
DELETE FROM sqlite_master
DROP TABLE sqlite_master
SELECT load_extension('x')

-- unique_violation: sqlite postgresql mysql
INSERT INTO products (product_id, name, stock) VALUES (1, 'other', 1)
INSERT INTO products (product_id, name, stock) VALUES (9, 'tea', 1)
UPDATE products SET name = 'tea'
INSERT INTO customers (customer_id, name, email) VALUES (8, 'x', 'ann@example.org')
INSERT INTO order_items (order_id, product_id, quantity) VALUES (1, 1, 2)
CREATE UNIQUE INDEX one_city ON customers (city)
INSERT INTO products SELECT * FROM products

-- fk_violation: sqlite postgresql mysql
INSERT INTO orders (order_id, customer_id) VALUES (9, 99)
UPDATE orders SET customer_id = 77
DELETE FROM customers WHERE customer_id = 1
DELETE FROM products
INSERT INTO order_items (order_id, product_id, quantity) VALUES (1, 77, 1)

-- not_null_violation: sqlite postgresql mysql
INSERT INTO products (product_id, name, stock) VALUES (9, NULL, 1)
INSERT INTO products (product_id, name) VALUES (9, 'x')
UPDATE orders SET customer_id = NULL
INSERT INTO customers (customer_id) VALUES (8)
UPDATE products SET name = nullif(name, name)

-- check_violation: sqlite postgresql mysql
UPDATE products SET price = -1
UPDATE products SET stock = stock - 1000
INSERT INTO order_items (order_id, product_id, quantity) VALUES (2, 1, 0)
UPDATE orders SET status = 'gone'

-- limit_exceeded: postgresql
SELECT repeat('xx', 1000000000)
SET LOCAL temp_file_limit = 64 ;; SET LOCAL work_mem = 64 ;; SELECT x FROM generate_series(1, 100000) x ORDER BY -x

-- limit_exceeded: mysql
SET STATEMENT sql_big_selects = 0, max_join_size = 1 FOR SELECT * FROM products a, products b, products c
UPDATE customers SET name = repeat('x', 2000000000)

-- limit_exceeded: sqlite
SELECT randomblob(1000000001)
SELECT zeroblob(3000000000)

-- unknown: sqlite postgresql mysql
INSERT INTO ledger (entry_id, amount) VALUES (1, -5)
CREATE TABLE products (a INTEGER)
CREATE VIEW open_orders AS SELECT 1 AS x

-- unknown: postgresql mysql
SELECT (SELECT order_id FROM order_items)
UPDATE products SET stock = stock / 0

-- unknown: postgresql
SELECT 1 / 0
SELECT 2147483647 + 1
SELECT 9223372036854775807 * 2
SELECT ln(0)
SELECT sqrt(-1)
DO $$ BEGIN RAISE EXCEPTION 'no permission, column not found'; END $$
DEALLOCATE absent
SET nosuch_setting = 1
DROP INDEX absent

-- unknown: mysql
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'duplicate column, access denied'
SELECT 9223372036854775807 + 1
SELECT -9223372036854775808 - 1
ROLLBACK TO SAVEPOINT absent
SET nosuch_setting = 1
UPDATE open_orders SET order_count = 1

-- unknown: sqlite
SELECT abs(-9223372036854775808)
SELECT sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)
ROLLBACK TO absent
DROP INDEX absent
UPDATE open_orders SET order_count = 1
