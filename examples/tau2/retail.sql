-- The online shop of tau2-bench as tables.
CREATE TABLE products (product_id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE variants (
  item_id TEXT PRIMARY KEY,
  product_id TEXT NOT NULL REFERENCES products (product_id),
  available INTEGER NOT NULL,
  price NUMERIC NOT NULL
);
CREATE TABLE options (
  item_id TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (item_id, name)
);
CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT NOT NULL,
  address1 TEXT NOT NULL,
  address2 TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL,
  state TEXT NOT NULL,
  zip TEXT NOT NULL
);
CREATE TABLE payment_methods (
  user_id TEXT NOT NULL REFERENCES users (user_id),
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  brand TEXT,
  last_four TEXT,
  balance NUMERIC,
  PRIMARY KEY (user_id, id)
);
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (user_id),
  status TEXT NOT NULL,
  address1 TEXT NOT NULL,
  address2 TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL,
  state TEXT NOT NULL,
  zip TEXT NOT NULL,
  cancel_reason TEXT,
  change_payment_method_id TEXT,  -- of an exchange or a return
  price_difference NUMERIC        -- of an exchange
);
CREATE TABLE order_items (
  order_id TEXT NOT NULL REFERENCES orders (order_id),
  position INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  product_id TEXT NOT NULL REFERENCES products (product_id),
  price NUMERIC NOT NULL,
  tracking_id TEXT,
  new_item_id TEXT,               -- where an exchange was asked for
  returned INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (order_id, position)
);
CREATE TABLE payments (
  order_id TEXT NOT NULL REFERENCES orders (order_id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  amount NUMERIC NOT NULL,
  payment_method_id TEXT NOT NULL,
  PRIMARY KEY (order_id, position)
);
