INSERT INTO users VALUES
  ('mira_holt_4821', 'Mira', 'Holt', 'mira.holt@example.com', '12 Quay Road', 'Bergen', '50112'),
  ('juno_park_7730', 'Juno', 'Park', 'juno.park@example.com', '4 Mill Lane', 'Leeds', '20477'),
  ('omar_diaz_1198', 'Omar', 'Diaz', 'omar.diaz@example.com', '9 Sun Street', 'Porto', '40993'),
  ('tess_vale_6604', 'Tess', 'Vale', 'tess.vale@example.com', '31 Oak Hill', 'Graz', '80217');
INSERT INTO payment_methods VALUES
  ('gift_card_8841', 'mira_holt_4821', 'gift card', 75.5), ('credit_card_3307', 'mira_holt_4821', 'credit card', NULL),
  ('paypal_5512', 'juno_park_7730', 'paypal', NULL), ('credit_card_9026', 'omar_diaz_1198', 'credit card', NULL),
  ('gift_card_2290', 'tess_vale_6604', 'gift card', 120.0);
INSERT INTO products VALUES ('5501', 'Kettle'), ('5502', 'Desk Lamp'), ('5503', 'Backpack');
INSERT INTO items VALUES
  ('771001', '5501', 'black', 'small', 31.5, 1), ('771002', '5501', 'white', 'small', 33.25, 1), ('771003', '5501', 'white', 'large', 48.0, 0),
  ('771004', '5502', 'brass', 'small', 52.75, 1), ('771005', '5502', 'green', 'small', 49.99, 1), ('771006', '5502', 'green', 'large', 64.4, 1),
  ('771007', '5503', 'navy', 'large', 81.15, 1), ('771008', '5503', 'olive', 'large', 84.6, 1), ('771009', '5503', 'olive', 'small', 70.05, 1);
INSERT INTO orders VALUES
  ('#D4401', 'mira_holt_4821', 'delivered', NULL, '12 Quay Road', 'Bergen', '50112', NULL),
  ('#D4402', 'mira_holt_4821', 'pending', NULL, '12 Quay Road', 'Bergen', '50112', NULL),
  ('#D4403', 'juno_park_7730', 'delivered', NULL, '4 Mill Lane', 'Leeds', '20477', NULL),
  ('#D4404', 'juno_park_7730', 'pending', NULL, '4 Mill Lane', 'Leeds', '20477', NULL),
  ('#D4405', 'omar_diaz_1198', 'pending', NULL, '9 Sun Street', 'Porto', '40993', NULL),
  ('#D4406', 'omar_diaz_1198', 'delivered', NULL, '9 Sun Street', 'Porto', '40993', NULL),
  ('#D4407', 'tess_vale_6604', 'delivered', NULL, '31 Oak Hill', 'Graz', '80217', NULL);
INSERT INTO order_items VALUES
  ('#D4401', '771001', 'kept', NULL), ('#D4401', '771004', 'kept', NULL), ('#D4402', '771007', 'kept', NULL),
  ('#D4403', '771005', 'kept', NULL), ('#D4403', '771009', 'kept', NULL), ('#D4404', '771002', 'kept', NULL),
  ('#D4405', '771008', 'kept', NULL), ('#D4405', '771001', 'kept', NULL), ('#D4406', '771006', 'kept', NULL),
  ('#D4407', '771004', 'kept', NULL), ('#D4407', '771007', 'kept', NULL);
