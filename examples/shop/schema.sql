-- An online shop's service desk: customers, the catalogue, orders with what was paid and sent, and what came back.
--
-- Plain SQL, so that one file serves several engines. Money is whole euro cents. Dates and instants are ISO 8601
-- text (YYYY-MM-DD, YYYY-MM-DD HH:MM:SS, UTC): they sort as they read, and every driver gives them back alike.
-- Truth values are 0 and 1. The *_folded columns hold names in lower case, without accents and punctuation.

CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY,
    name        VARCHAR(120) NOT NULL,
    name_folded VARCHAR(120) NOT NULL,
    email       VARCHAR(120) NOT NULL,
    joined_on   VARCHAR(10)  NOT NULL,
    CONSTRAINT customers_email_unique UNIQUE (email),
    CONSTRAINT customers_email CHECK (email LIKE '%@%'),
    CONSTRAINT customers_joined CHECK (joined_on LIKE '____-__-__')
);

CREATE INDEX customers_by_name ON customers (name_folded);

-- A customer's address book. An order points at one entry; entries are added, never rewritten, so that old
-- orders go on saying where they went.
CREATE TABLE addresses (
    address_id  INTEGER PRIMARY KEY,
    customer_id INTEGER      NOT NULL,
    street      VARCHAR(120) NOT NULL,
    postcode    VARCHAR(12)  NOT NULL,
    city        VARCHAR(60)  NOT NULL,
    country     VARCHAR(2)   NOT NULL,
    CONSTRAINT addresses_once UNIQUE (customer_id, street, postcode),
    CONSTRAINT addresses_customer FOREIGN KEY (customer_id) REFERENCES customers (customer_id)
);

-- The catalogue ---------------------------------------------------------------------------------------

-- return_days counts from the day of delivery; 0 means that the category is not taken back.
-- opened_fee_percent is kept back from the refund of an opened item.
CREATE TABLE categories (
    category_id        INTEGER PRIMARY KEY,
    name               VARCHAR(40) NOT NULL,
    return_days        INTEGER     NOT NULL,
    opened_fee_percent INTEGER     NOT NULL DEFAULT 0,
    CONSTRAINT categories_name_unique UNIQUE (name),
    CONSTRAINT categories_days CHECK (return_days BETWEEN 0 AND 365),
    CONSTRAINT categories_fee CHECK (opened_fee_percent BETWEEN 0 AND 100)
);

CREATE TABLE products (
    product_id  INTEGER PRIMARY KEY,
    name        VARCHAR(80) NOT NULL,
    name_folded VARCHAR(80) NOT NULL,
    category_id INTEGER     NOT NULL,
    CONSTRAINT products_name_unique UNIQUE (name_folded),
    CONSTRAINT products_category FOREIGN KEY (category_id) REFERENCES categories (category_id)
);

-- colour and size are null where the product has no such choice. final_sale is how the variant is sold today;
-- what counts for an order is the flag on its own line.
CREATE TABLE variants (
    variant_id  INTEGER PRIMARY KEY,
    product_id  INTEGER     NOT NULL,
    sku         VARCHAR(20) NOT NULL,
    colour      VARCHAR(20),
    size        VARCHAR(20),
    price_cents INTEGER     NOT NULL,
    final_sale  INTEGER     NOT NULL DEFAULT 0,
    CONSTRAINT variants_sku_unique UNIQUE (sku),
    CONSTRAINT variants_product FOREIGN KEY (product_id) REFERENCES products (product_id),
    CONSTRAINT variants_price CHECK (price_cents > 0),
    CONSTRAINT variants_final_sale CHECK (final_sale IN (0, 1))
);

CREATE INDEX variants_by_product ON variants (product_id);

-- What can be promised to the next customer: goods of open orders are taken off when the order is placed.
CREATE TABLE stock (
    variant_id INTEGER PRIMARY KEY,
    on_hand    INTEGER NOT NULL,
    CONSTRAINT stock_variant FOREIGN KEY (variant_id) REFERENCES variants (variant_id),
    CONSTRAINT stock_on_hand CHECK (on_hand >= 0)
);

-- Orders ----------------------------------------------------------------------------------------------

-- hold is 'fraud' while the risk team looks at the order, else null.
CREATE TABLE orders (
    order_id       INTEGER PRIMARY KEY,
    number         VARCHAR(12) NOT NULL,
    customer_id    INTEGER     NOT NULL,
    address_id     INTEGER     NOT NULL,
    status         VARCHAR(10) NOT NULL,
    hold           VARCHAR(10),
    placed_at      VARCHAR(19) NOT NULL,
    shipping_cents INTEGER     NOT NULL,
    total_cents    INTEGER     NOT NULL,
    cancelled_at   VARCHAR(19),
    cancel_reason  VARCHAR(20),
    CONSTRAINT orders_number_unique UNIQUE (number),
    CONSTRAINT orders_customer FOREIGN KEY (customer_id) REFERENCES customers (customer_id),
    CONSTRAINT orders_address FOREIGN KEY (address_id) REFERENCES addresses (address_id),
    CONSTRAINT orders_state CHECK (status IN ('placed', 'packed', 'shipped', 'delivered', 'cancelled')),
    CONSTRAINT orders_hold CHECK (hold IN ('fraud')),
    CONSTRAINT orders_money CHECK (shipping_cents >= 0 AND total_cents > shipping_cents),
    CONSTRAINT orders_cancelled CHECK ((status = 'cancelled' AND cancelled_at >= placed_at AND cancel_reason IS NOT NULL)
                                    OR (status <> 'cancelled' AND cancelled_at IS NULL AND cancel_reason IS NULL)),
    CONSTRAINT orders_reason CHECK (cancel_reason IN ('changed_mind', 'ordered_twice', 'too_slow', 'wrong_item',
                                                      'fraud', 'out_of_stock'))
);

CREATE INDEX orders_by_customer ON orders (customer_id);

CREATE TABLE order_items (
    order_item_id    INTEGER PRIMARY KEY,
    order_id         INTEGER NOT NULL,
    variant_id       INTEGER NOT NULL,
    quantity         INTEGER NOT NULL,
    unit_price_cents INTEGER NOT NULL,
    final_sale       INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT order_items_once UNIQUE (order_id, variant_id),
    CONSTRAINT order_items_order FOREIGN KEY (order_id) REFERENCES orders (order_id),
    CONSTRAINT order_items_variant FOREIGN KEY (variant_id) REFERENCES variants (variant_id),
    CONSTRAINT order_items_quantity CHECK (quantity BETWEEN 1 AND 20),
    CONSTRAINT order_items_price CHECK (unit_price_cents > 0),
    CONSTRAINT order_items_final_sale CHECK (final_sale IN (0, 1))
);

CREATE INDEX order_items_by_variant ON order_items (variant_id);

-- Every change of stock has its line here; an order's lines point at it.
CREATE TABLE stock_movements (
    movement_id INTEGER PRIMARY KEY,
    variant_id  INTEGER     NOT NULL,
    order_id    INTEGER,
    kind        VARCHAR(12) NOT NULL,
    quantity    INTEGER     NOT NULL,
    created_at  VARCHAR(19) NOT NULL,
    CONSTRAINT stock_movements_variant FOREIGN KEY (variant_id) REFERENCES variants (variant_id),
    CONSTRAINT stock_movements_order FOREIGN KEY (order_id) REFERENCES orders (order_id),
    CONSTRAINT stock_movements_kind CHECK (kind IN ('supply', 'sale', 'cancellation', 'return', 'exchange', 'swap',
                                                    'count')),
    CONSTRAINT stock_movements_quantity CHECK (quantity <> 0)
);

CREATE INDEX stock_movements_by_variant ON stock_movements (variant_id);

CREATE TABLE shipments (
    shipment_id  INTEGER PRIMARY KEY,
    order_id     INTEGER     NOT NULL,
    carrier      VARCHAR(20) NOT NULL,
    tracking     VARCHAR(20) NOT NULL,
    status       VARCHAR(10) NOT NULL,
    shipped_on   VARCHAR(10) NOT NULL,
    promised_on  VARCHAR(10) NOT NULL,
    delivered_on VARCHAR(10),
    CONSTRAINT shipments_order_unique UNIQUE (order_id),
    CONSTRAINT shipments_tracking_unique UNIQUE (tracking),
    CONSTRAINT shipments_order FOREIGN KEY (order_id) REFERENCES orders (order_id),
    CONSTRAINT shipments_carrier CHECK (carrier IN ('Nordpost', 'Parcelwing', 'Swiftline')),
    CONSTRAINT shipments_promised CHECK (promised_on > shipped_on),
    CONSTRAINT shipments_status CHECK ((status IN ('in_transit', 'lost') AND delivered_on IS NULL)
                                    OR (status = 'delivered' AND delivered_on > shipped_on))
);

-- Money -----------------------------------------------------------------------------------------------

-- balance_cents is initial_cents less what was paid with the card plus what was refunded to it.
CREATE TABLE gift_cards (
    gift_card_id  INTEGER PRIMARY KEY,
    code          VARCHAR(20) NOT NULL,
    customer_id   INTEGER     NOT NULL,
    initial_cents INTEGER     NOT NULL,
    balance_cents INTEGER     NOT NULL,
    issued_on     VARCHAR(10) NOT NULL,
    expires_on    VARCHAR(10) NOT NULL,
    CONSTRAINT gift_cards_code_unique UNIQUE (code),
    CONSTRAINT gift_cards_customer FOREIGN KEY (customer_id) REFERENCES customers (customer_id),
    CONSTRAINT gift_cards_money CHECK (initial_cents > 0 AND balance_cents BETWEEN 0 AND initial_cents),
    CONSTRAINT gift_cards_dates CHECK (expires_on > issued_on)
);

-- An order has a second payment where a gift card paid a part of it, and another one for each difference that was
-- charged when a line became dearer.
CREATE TABLE payments (
    payment_id   INTEGER PRIMARY KEY,
    order_id     INTEGER     NOT NULL,
    method       VARCHAR(15) NOT NULL,
    gift_card_id INTEGER,
    amount_cents INTEGER     NOT NULL,
    paid_at      VARCHAR(19) NOT NULL,
    CONSTRAINT payments_order FOREIGN KEY (order_id) REFERENCES orders (order_id),
    CONSTRAINT payments_gift_card FOREIGN KEY (gift_card_id) REFERENCES gift_cards (gift_card_id),
    CONSTRAINT payments_amount CHECK (amount_cents > 0),
    CONSTRAINT payments_method CHECK ((method = 'gift_card' AND gift_card_id IS NOT NULL)
                                   OR (method IN ('card', 'wallet', 'bank_transfer') AND gift_card_id IS NULL))
);

CREATE INDEX payments_by_order ON payments (order_id);

-- One returned or exchanged line of an order. new_variant_id is what an exchange sends out instead;
-- item_condition is what the warehouse found when the goods came in.
CREATE TABLE returns (
    return_id      INTEGER PRIMARY KEY,
    order_item_id  INTEGER     NOT NULL,
    kind           VARCHAR(8)  NOT NULL,
    quantity       INTEGER     NOT NULL,
    reason         VARCHAR(20) NOT NULL,
    new_variant_id INTEGER,
    status         VARCHAR(8)  NOT NULL DEFAULT 'open',
    item_condition VARCHAR(8),
    created_at     VARCHAR(19) NOT NULL,
    received_at    VARCHAR(19),
    CONSTRAINT returns_item FOREIGN KEY (order_item_id) REFERENCES order_items (order_item_id),
    CONSTRAINT returns_new_variant FOREIGN KEY (new_variant_id) REFERENCES variants (variant_id),
    CONSTRAINT returns_quantity CHECK (quantity > 0),
    CONSTRAINT returns_kind CHECK ((kind = 'refund' AND new_variant_id IS NULL)
                                OR (kind = 'exchange' AND new_variant_id IS NOT NULL)),
    CONSTRAINT returns_reason CHECK (reason IN ('changed_mind', 'wrong_size', 'not_as_described', 'wrong_item',
                                                'damaged', 'defective')),
    CONSTRAINT returns_condition CHECK (item_condition IN ('as_new', 'opened', 'damaged')),
    CONSTRAINT returns_status CHECK ((status = 'open' AND item_condition IS NULL AND received_at IS NULL)
                                  OR (status = 'received' AND item_condition IS NOT NULL AND received_at >= created_at))
);

CREATE INDEX returns_by_item ON returns (order_item_id);

CREATE TABLE refunds (
    refund_id    INTEGER PRIMARY KEY,
    payment_id   INTEGER     NOT NULL,
    return_id    INTEGER,
    amount_cents INTEGER     NOT NULL,
    reason       VARCHAR(20) NOT NULL,
    destination  VARCHAR(20) NOT NULL,
    created_at   VARCHAR(19) NOT NULL,
    CONSTRAINT refunds_payment FOREIGN KEY (payment_id) REFERENCES payments (payment_id),
    CONSTRAINT refunds_return FOREIGN KEY (return_id) REFERENCES returns (return_id),
    CONSTRAINT refunds_amount CHECK (amount_cents > 0),
    CONSTRAINT refunds_reason CHECK (reason IN ('cancellation', 'return', 'lost_parcel', 'price_error',
                                               'price_difference')),
    CONSTRAINT refunds_destination CHECK (destination IN ('original_payment', 'bank_account', 'store_credit'))
);

CREATE INDEX refunds_by_payment ON refunds (payment_id);

-- Store credit. A customer's balance is the sum of these lines.
CREATE TABLE credits (
    credit_id    INTEGER PRIMARY KEY,
    customer_id  INTEGER     NOT NULL,
    kind         VARCHAR(10) NOT NULL,
    cause        VARCHAR(15),
    amount_cents INTEGER     NOT NULL,
    created_at   VARCHAR(19) NOT NULL,
    CONSTRAINT credits_customer FOREIGN KEY (customer_id) REFERENCES customers (customer_id),
    CONSTRAINT credits_amount CHECK (amount_cents > 0),
    CONSTRAINT credits_kind CHECK ((kind = 'goodwill' AND cause IS NOT NULL) OR (kind = 'refund' AND cause IS NULL)),
    CONSTRAINT credits_cause CHECK (cause IN ('late_parcel', 'damaged_item', 'wrong_item', 'lost_parcel'))
);

CREATE INDEX credits_by_customer ON credits (customer_id);

-- The desk --------------------------------------------------------------------------------------------

CREATE TABLE messages (
    message_id INTEGER PRIMARY KEY,
    order_id   INTEGER     NOT NULL,
    template   VARCHAR(20) NOT NULL,
    created_at VARCHAR(19) NOT NULL,
    CONSTRAINT messages_order FOREIGN KEY (order_id) REFERENCES orders (order_id),
    CONSTRAINT messages_template CHECK (template IN ('delay_apology', 'parcel_lost', 'return_label', 'refund_issued'))
);

CREATE INDEX messages_by_order ON messages (order_id);

CREATE TABLE escalations (
    escalation_id INTEGER PRIMARY KEY,
    order_id      INTEGER     NOT NULL,
    team          VARCHAR(10) NOT NULL,
    reason        VARCHAR(20) NOT NULL,
    created_at    VARCHAR(19) NOT NULL,
    CONSTRAINT escalations_order FOREIGN KEY (order_id) REFERENCES orders (order_id),
    CONSTRAINT escalations_team CHECK (team IN ('supervisor', 'risk', 'warehouse')),
    CONSTRAINT escalations_reason CHECK (reason IN ('refund_over_limit', 'fraud_hold', 'stock_discrepancy'))
);

-- Views -----------------------------------------------------------------------------------------------

-- What is left of each payment after its refunds.
CREATE VIEW payment_balances AS
SELECT p.payment_id AS payment_id, p.order_id AS order_id, p.method AS method, p.amount_cents AS amount_cents,
       p.amount_cents - COALESCE((SELECT SUM(r.amount_cents) FROM refunds r WHERE r.payment_id = p.payment_id), 0)
           AS refundable_cents
FROM payments p;

-- Each line of an order in words, with what may still come back of it.
CREATE VIEW purchases AS
SELECT i.order_item_id AS order_item_id, i.order_id AS order_id, o.number AS number, o.customer_id AS customer_id,
       o.status AS status, o.placed_at AS placed_at, p.product_id AS product_id, p.name AS product,
       p.name_folded AS product_folded, c.name AS category, c.return_days AS return_days,
       c.opened_fee_percent AS opened_fee_percent, v.variant_id AS variant_id, v.sku AS sku, v.colour AS colour,
       v.size AS size, i.quantity AS quantity, i.unit_price_cents AS unit_price_cents, i.final_sale AS final_sale,
       s.delivered_on AS delivered_on,
       i.quantity - COALESCE((SELECT SUM(r.quantity) FROM returns r WHERE r.order_item_id = i.order_item_id), 0)
           AS returnable
FROM order_items i
JOIN orders o ON o.order_id = i.order_id
JOIN variants v ON v.variant_id = i.variant_id
JOIN products p ON p.product_id = v.product_id
JOIN categories c ON c.category_id = p.category_id
LEFT JOIN shipments s ON s.order_id = i.order_id;
