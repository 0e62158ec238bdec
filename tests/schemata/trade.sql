-- A trading house: suppliers, products in categories, customers, orders with lines, shippers and the staff who sell.
CREATE TABLE categories (category_id INTEGER PRIMARY KEY, category_name TEXT NOT NULL UNIQUE, description TEXT);
CREATE TABLE suppliers (supplier_id INTEGER PRIMARY KEY, company_name TEXT NOT NULL UNIQUE, contact_name TEXT, country TEXT NOT NULL, phone TEXT);
CREATE TABLE shippers (shipper_id INTEGER PRIMARY KEY, company_name TEXT NOT NULL UNIQUE, phone TEXT NOT NULL);
CREATE TABLE products (
  product_id INTEGER PRIMARY KEY,
  product_name TEXT NOT NULL UNIQUE,
  supplier_id INTEGER NOT NULL REFERENCES suppliers (supplier_id),
  category_id INTEGER NOT NULL REFERENCES categories (category_id),
  unit_price NUMERIC(10, 2) NOT NULL CHECK (unit_price > 0),
  units_in_stock INTEGER NOT NULL CHECK (units_in_stock BETWEEN 0 AND 900),
  reorder_level INTEGER NOT NULL DEFAULT 10 CHECK (reorder_level BETWEEN 0 AND 100),
  discontinued BOOLEAN NOT NULL DEFAULT 0
);
CREATE TABLE customers (
  customer_code TEXT PRIMARY KEY,
  company_name TEXT NOT NULL UNIQUE,
  contact_name TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL
);
CREATE TABLE employees (
  employee_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  title TEXT NOT NULL,
  hire_date DATE NOT NULL,
  reports_to INTEGER REFERENCES employees (employee_id)
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  order_number TEXT NOT NULL UNIQUE,
  customer_code TEXT NOT NULL REFERENCES customers (customer_code),
  employee_id INTEGER NOT NULL REFERENCES employees (employee_id),
  shipper_id INTEGER REFERENCES shippers (shipper_id),
  order_date DATE NOT NULL,
  required_date DATE NOT NULL,
  shipped_date DATE,
  freight NUMERIC(8, 2) NOT NULL CHECK (freight >= 0),
  status TEXT NOT NULL CHECK (status IN ('new', 'confirmed', 'shipped', 'cancelled')),
  CHECK (required_date >= order_date)
);
CREATE TABLE order_details (
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  product_id INTEGER NOT NULL REFERENCES products (product_id),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 120),
  unit_price NUMERIC(10, 2) NOT NULL,
  PRIMARY KEY (order_id, product_id)
);
INSERT INTO categories (category_name, description) VALUES ('Beverages', 'Soft drinks, coffees and teas'), ('Condiments', 'Sauces and spreads'),
  ('Grains', 'Bread, pasta and cereal'), ('Seafood', 'Fish and seaweed'), ('Sweets', 'Desserts and candies');
INSERT INTO shippers (company_name, phone) VALUES ('Rapid Freight', '030-5550101'), ('Blue Anchor Lines', '030-5550177'), ('Overland Union', '030-5550190');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
INSERT INTO suppliers (company_name, contact_name, country, phone)
SELECT json_extract('["Aurora","Bellweather","Castellan","Driftwood"]', '$[' || (i % 4) || ']') || ' ' || json_extract('["Foods","Imports","Mills"]', '$[' || (i / 4) || ']'),
       json_extract('["Lena","Marek","Noor"]', '$[' || (i % 3) || ']') || ' ' || json_extract('["Abbott","Brandt","Costa","Dvorak"]', '$[' || (i / 3) || ']'),
       json_extract('["Norway","Spain","Japan","Brazil"]', '$[' || (i % 4) || ']'), '0' || (2010 + i * 7) || '-' || (551200 + i * 31)
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO products (product_name, supplier_id, category_id, unit_price, units_in_stock, reorder_level, discontinued)
SELECT json_extract('["Smoked","Golden","Mountain","Salted","Wild"]', '$[' || (i % 5) || ']') || ' ' ||
       json_extract('["Herring","Honey","Barley","Cocoa","Cider","Mustard","Biscuits","Kelp"]', '$[' || (i / 5) || ']'),
       1 + (i * 5) % 12, 1 + (i * 3) % 5, 4.5 + (i * 13) % 60 + (i % 4) * 0.25, (i * 29) % 180, 5 * (i % 6), i % 11 = 10
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29)
INSERT INTO customers (customer_code, company_name, contact_name, city, country)
SELECT substr('ALFBERCOSDELERN', 1 + 3 * (i % 5), 3) || char(65 + i / 5) || char(75 + i % 5),
       json_extract('["Albatross","Bergamot","Cormorant","Delphine","Ermine"]', '$[' || (i % 5) || ']') || ' ' ||
       json_extract('["Trading","Stores","Market","Kitchens","Provisions","Deli"]', '$[' || (i / 5) || ']'),
       json_extract('["Petra","Rasmus","Silvia","Timo","Ulla","Viktor"]', '$[' || (i % 6) || ']') || ' ' || json_extract('["Acker","Boyd","Cruz","Dahlin","Egger"]', '$[' || (i / 6) || ']'),
       json_extract('["Oslo","Madrid","Kyoto","Recife","Lyon","Graz","Cork"]', '$[' || (i % 7) || ']'), json_extract('["Norway","Spain","Japan","Brazil","France","Austria","Ireland"]', '$[' || (i % 7) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 8)
INSERT INTO employees (first_name, last_name, title, hire_date, reports_to)
SELECT json_extract('["Nadia","Oskar","Philippa"]', '$[' || (i % 3) || ']'), json_extract('["Fuller","Leverling","Peacock"]', '$[' || (i / 3) || ']'),
       CASE WHEN i THEN 'Sales Representative' ELSE 'Sales Manager' END, date('2019-04-01', '+' || (i * 83) || ' days'), CASE WHEN i THEN 1 END
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 79)
INSERT INTO orders (order_number, customer_code, employee_id, shipper_id, order_date, required_date, shipped_date, freight, status)
SELECT 'SO-' || (10248 + i * 3), (SELECT customer_code FROM customers c WHERE c.rowid = 1 + (i * 7) % 30), 1 + (i * 5) % 9, CASE WHEN i % 4 = 2 THEN 1 + i % 3 END,
       date('2025-10-01', '+' || (i * 2) || ' days'), date('2025-10-15', '+' || (i * 2 + i % 9) || ' days'),
       CASE WHEN i % 4 = 2 THEN date('2025-10-04', '+' || (i * 2) || ' days') END, 3.2 + (i * 17) % 90 + (i % 5) * 0.15,
       json_extract('["new","confirmed","shipped","cancelled"]', '$[' || (i % 4) || ']')
FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
INSERT OR IGNORE INTO order_details (order_id, product_id, quantity, unit_price)
SELECT 1 + (i * 3) % 80, 1 + (i * 7) % 40, 1 + (i * 11) % 48, 4.5 + (i * 13) % 60 FROM n;
