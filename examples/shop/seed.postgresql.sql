-- For PostgreSQL: seed.sql, after which new keys go on behind those of the seed.

\i seed.sql

SELECT setval(pg_get_serial_sequence('customers', 'customer_id'), MAX(customer_id)) FROM customers;
SELECT setval(pg_get_serial_sequence('addresses', 'address_id'), MAX(address_id)) FROM addresses;
SELECT setval(pg_get_serial_sequence('categories', 'category_id'), MAX(category_id)) FROM categories;
SELECT setval(pg_get_serial_sequence('products', 'product_id'), MAX(product_id)) FROM products;
SELECT setval(pg_get_serial_sequence('variants', 'variant_id'), MAX(variant_id)) FROM variants;
SELECT setval(pg_get_serial_sequence('orders', 'order_id'), MAX(order_id)) FROM orders;
SELECT setval(pg_get_serial_sequence('order_items', 'order_item_id'), MAX(order_item_id)) FROM order_items;
SELECT setval(pg_get_serial_sequence('stock_movements', 'movement_id'), MAX(movement_id)) FROM stock_movements;
SELECT setval(pg_get_serial_sequence('shipments', 'shipment_id'), MAX(shipment_id)) FROM shipments;
SELECT setval(pg_get_serial_sequence('gift_cards', 'gift_card_id'), MAX(gift_card_id)) FROM gift_cards;
SELECT setval(pg_get_serial_sequence('payments', 'payment_id'), MAX(payment_id)) FROM payments;
SELECT setval(pg_get_serial_sequence('returns', 'return_id'), MAX(return_id)) FROM returns;
SELECT setval(pg_get_serial_sequence('refunds', 'refund_id'), MAX(refund_id)) FROM refunds;
SELECT setval(pg_get_serial_sequence('credits', 'credit_id'), MAX(credit_id)) FROM credits;
SELECT setval(pg_get_serial_sequence('messages', 'message_id'), MAX(message_id)) FROM messages;
SELECT setval(pg_get_serial_sequence('escalations', 'escalation_id'), MAX(escalation_id)) FROM escalations;
