CREATE TABLE users (
  user_id TEXT PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, email TEXT NOT NULL UNIQUE,
  street TEXT NOT NULL, city TEXT NOT NULL, zip TEXT NOT NULL
);
CREATE TABLE payment_methods (
  payment_method_id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users, kind TEXT NOT NULL, balance REAL
);
CREATE TABLE products (product_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE items (
  item_id TEXT PRIMARY KEY, product_id TEXT NOT NULL REFERENCES products, colour TEXT NOT NULL, size TEXT NOT NULL,
  price REAL NOT NULL, available INTEGER NOT NULL
);
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users, status TEXT NOT NULL, reason TEXT,
  street TEXT NOT NULL, city TEXT NOT NULL, zip TEXT NOT NULL, refund_to TEXT REFERENCES payment_methods
);
CREATE TABLE order_items (
  order_id TEXT NOT NULL REFERENCES orders, item_id TEXT NOT NULL REFERENCES items, state TEXT NOT NULL,
  exchanged_for TEXT REFERENCES items, PRIMARY KEY (order_id, item_id)
);
