-- Universe 0 of seed.py: an invented mailbox on the morning of 2026-03-02.

INSERT INTO contacts (contact_id, name, name_folded, email, company) VALUES
    (101, 'Jelka Yarborough', 'jelka yarborough', 'jelka.yarborough@larkspur.example', 'Larkspur & Pine'),
    (103, 'Petra Eastwood', 'petra eastwood', 'petra.eastwood@larkspur.example', 'Larkspur & Pine'),
    (105, 'Jonas Arvidson', 'jonas arvidson', 'jonas.arvidson@larkspur.example', 'Larkspur & Pine'),
    (107, 'Ivo Hartwig', 'ivo hartwig', 'ivo.hartwig@larkspur.example', 'Larkspur & Pine'),
    (109, 'Jelka Merrow', 'jelka merrow', 'jelka.merrow@larkspur.example', 'Larkspur & Pine'),
    (111, 'Malik Drewitz', 'malik drewitz', 'malik.drewitz@larkspur.example', 'Larkspur & Pine'),
    (113, 'Hamid Thornby', 'hamid thornby', 'hamid.thornby@larkspur.example', 'Larkspur & Pine'),
    (115, 'Petra Colmar', 'petra colmar', 'petra.colmar@larkspur.example', 'Larkspur & Pine'),
    (117, 'Levi Merrow', 'levi merrow', 'levi.merrow@larkspur.example', 'Larkspur & Pine'),
    (119, 'Nils Stavik', 'nils stavik', 'nils.stavik@harrowgate-paper.example', 'Harrowgate Paper'),
    (121, 'Freja Pellworm', 'freja pellworm', 'freja.pellworm@silverdale-mills.example', 'Silverdale Mills'),
    (123, 'Jelka Norling', 'jelka norling', 'jelka.norling@windrush-leather.example', 'Windrush Leather'),
    (125, 'Malik Yarborough', 'malik yarborough', 'malik.yarborough@ashcombe-logistics.example', 'Ashcombe Logistics'),
    (127, 'Otis Rosendal', 'otis rosendal', 'otis.rosendal@penhallow-print.example', 'Penhallow Print'),
    (129, 'Finn Lindgaard', 'finn lindgaard', 'finn.lindgaard@stonebridge-logistics.example', 'Stonebridge Logistics'),
    (131, 'Noor Stavik', 'noor stavik', 'noor.stavik@fairlight-hardware.example', 'Fairlight Hardware'),
    (133, 'Suna Norling', 'suna norling', 'suna.norling@ashcombe-optics.example', 'Ashcombe Optics'),
    (135, 'Ivo Fenner', 'ivo fenner', 'ivo.fenner@redcliff-packaging.example', 'Redcliff Packaging'),
    (137, 'Bent Lundmark', 'bent lundmark', 'bent.lundmark@harrowgate-paper.example', 'Harrowgate Paper'),
    (139, 'Cilla Norling', 'cilla norling', 'cilla.norling@silverdale-mills.example', 'Silverdale Mills'),
    (141, 'Corin Thornby', 'corin thornby', 'corin.thornby@windrush-leather.example', 'Windrush Leather'),
    (143, 'Ylva Dahlberg', 'ylva dahlberg', 'ylva.dahlberg@ashcombe-logistics.example', 'Ashcombe Logistics'),
    (145, 'Suna Falkner', 'suna falkner', 'suna.falkner@penhallow-print.example', 'Penhallow Print'),
    (147, 'Rune Brandvik', 'rune brandvik', 'rune.brandvik@stonebridge-logistics.example', 'Stonebridge Logistics'),
    (149, 'Dov Overbeck', 'dov overbeck', 'dov.overbeck@fairlight-hardware.example', 'Fairlight Hardware'),
    (151, 'Dov Brandvik', 'dov brandvik', 'dov.brandvik@ashcombe-optics.example', 'Ashcombe Optics'),
    (153, 'Nils Hartwig', 'nils hartwig', 'nils.hartwig@redcliff-packaging.example', 'Redcliff Packaging'),
    (155, 'Ida Yarborough', 'ida yarborough', 'ida.yarborough@harrowgate-paper.example', 'Harrowgate Paper'),
    (157, 'Tove Holloway', 'tove holloway', 'tove.holloway@silverdale-mills.example', 'Silverdale Mills'),
    (159, 'Noor Lindgaard', 'noor lindgaard', 'noor.lindgaard@windrush-leather.example', 'Windrush Leather'),
    (161, 'Malik Brandvik', 'malik brandvik', 'malik.brandvik@ashcombe-logistics.example', 'Ashcombe Logistics'),
    (163, 'Lotte Rosendal', 'lotte rosendal', 'lotte.rosendal@penhallow-print.example', 'Penhallow Print'),
    (165, 'Hedda Nybakk', 'hedda nybakk', 'hedda.nybakk@stonebridge-logistics.example', 'Stonebridge Logistics'),
    (167, 'Nils Stavik', 'nils stavik', 'nils.stavik@penhallow-print.example', 'Penhallow Print'),
    (169, 'Freja Pellworm', 'freja pellworm', 'freja.pellworm@stonebridge-logistics.example', 'Stonebridge Logistics'),
    (171, 'Jelka Norling', 'jelka norling', 'jelka.norling@fairlight-hardware.example', 'Fairlight Hardware'),
    (173, 'Ashcombe Leather Bookings', 'ashcombe leather bookings', 'noreply@ashcombe-leather.example', 'Ashcombe Leather'),
    (175, 'Fairlight Catering Bookings', 'fairlight catering bookings', 'noreply@fairlight-catering.example', 'Fairlight Catering'),
    (177, 'Thornbury Catering Bookings', 'thornbury catering bookings', 'noreply@thornbury-catering.example', 'Thornbury Catering'),
    (179, 'Eastmere Print Bookings', 'eastmere print bookings', 'noreply@eastmere-print.example', 'Eastmere Print');

INSERT INTO threads (thread_id, subject) VALUES
    (1001, 'Delivery slot for pallet 2495'),
    (1002, 'Visit to your warehouse, 1560'),
    (1003, 'Price list 9241'),
    (1004, 'Invoice 9690'),
    (1005, 'Stock notice 7272'),
    (1006, 'Visit to your warehouse, 9283'),
    (1007, 'Sample box 7093'),
    (1008, 'Call about contract 8558'),
    (1009, 'Invoice 3448'),
    (1010, 'Stock notice 3642'),
    (1011, 'Holiday notice 6426'),
    (1012, 'Sample box 8359'),
    (1013, 'Call about contract 1260'),
    (1014, 'Stock notice 5932'),
    (1015, 'Holiday notice 1675'),
    (1016, 'Price list 4697'),
    (1017, 'Call about contract 9472'),
    (1018, 'Fitting for display 2396'),
    (1019, 'Delivery slot for pallet 2097'),
    (1020, 'Holiday notice 8717'),
    (1021, 'Price list 5833'),
    (1022, 'Invoice 7219'),
    (1023, 'Fitting for display 3564'),
    (1024, 'Delivery slot for pallet 5218'),
    (1025, 'Price list 3440'),
    (1026, 'Invoice 9613'),
    (1027, 'Stock notice 1591'),
    (1028, 'Delivery slot for pallet 6282'),
    (1029, 'Visit to your warehouse, 6224'),
    (1030, 'Sample box 6584'),
    (1031, 'Invoice 1169'),
    (1032, 'Stock notice 9903'),
    (1033, 'Holiday notice 4319'),
    (1034, 'Visit to your warehouse, 9179'),
    (1035, 'Sample box 9176'),
    (1036, 'Stock notice 6293'),
    (1037, 'Holiday notice 9126'),
    (1038, 'Price list 9549'),
    (1039, 'Sample box 7944'),
    (1040, 'Call about contract 7660'),
    (1041, 'Fitting for display 3441'),
    (1042, 'Holiday notice 9003'),
    (1043, 'Price list 2726'),
    (1044, 'Invoice 3489'),
    (1045, 'Call about contract 9962'),
    (1046, 'Fitting for display 6935'),
    (1047, 'Price list 7203'),
    (1048, 'Invoice 8520'),
    (1049, 'Stock notice 4253'),
    (1050, 'Fitting for display 2724'),
    (1051, 'Delivery slot for pallet 4547'),
    (1052, 'Visit to your warehouse, 1699'),
    (1053, 'Invoice 4405'),
    (1054, 'Stock notice 7530'),
    (1055, 'Holiday notice 9154'),
    (1056, 'Delivery slot for pallet 4314'),
    (1057, 'Visit to your warehouse, 8409'),
    (1058, 'Stock notice 9624'),
    (1059, 'Holiday notice 1462'),
    (1060, 'Price list 2894'),
    (1061, 'Visit to your warehouse, 6883'),
    (1062, 'Sample box 4154'),
    (1063, 'Call about contract 8075'),
    (1064, 'Holiday notice 3739'),
    (1065, 'Price list 5284'),
    (1066, 'Invoice 4616'),
    (1067, 'Sample box 7044'),
    (1068, 'Call about contract 2380'),
    (1069, 'Price list 7941'),
    (1070, 'Invoice 4569'),
    (1071, 'Stock notice 9015'),
    (1072, 'Call about contract 8358'),
    (1073, 'Fitting for display 5758'),
    (1074, 'Delivery slot for pallet 9513'),
    (1075, 'Invoice 7462'),
    (1076, 'Stock notice 2616'),
    (1077, 'Holiday notice 1138'),
    (1078, 'Fitting for display 7314'),
    (1079, 'Delivery slot for pallet 2011'),
    (1080, 'Stock notice 4631'),
    (1081, 'Holiday notice 4254'),
    (1082, 'Price list 2397'),
    (1083, 'Delivery slot for pallet 2088'),
    (1084, 'Visit to your warehouse, 2434'),
    (1085, 'Sample box 3738'),
    (1086, 'Holiday notice 3560'),
    (1087, 'Price list 6499'),
    (1088, 'Invoice 5956'),
    (1089, 'Visit to your warehouse, 1629'),
    (1090, 'Sample box 7998'),
    (1091, 'Price list 9164'),
    (1092, 'Invoice 2910'),
    (1093, 'Stock notice 8859'),
    (1094, 'Sample box 3046'),
    (1095, 'Call about contract 6640'),
    (1096, 'Fitting for display 6532'),
    (1097, 'Invoice 8776'),
    (1098, 'Stock notice 8893'),
    (1099, 'Holiday notice 2638'),
    (1100, 'Call about contract 2790'),
    (1101, 'Fitting for display 7804'),
    (1102, 'Stock notice 5912'),
    (1103, 'Holiday notice 6392'),
    (1104, 'Price list 7615'),
    (1105, 'Fitting for display 5968'),
    (1106, 'Delivery slot for pallet 2171'),
    (1107, 'Visit to your warehouse, 9579'),
    (1108, 'Holiday notice 3952'),
    (1109, 'Price list 6054'),
    (1110, 'Invoice 1800'),
    (1111, 'Delivery slot for pallet 4937'),
    (1112, 'Visit to your warehouse, 8842'),
    (1113, 'Price list 2892'),
    (1114, 'Invoice 5817'),
    (1115, 'Stock notice 3134'),
    (1116, 'Visit to your warehouse, 7478'),
    (1117, 'Sample box 6923'),
    (1118, 'Call about contract 5753'),
    (1119, 'Invoice 3458'),
    (1120, 'Stock notice 3694'),
    (1121, 'Holiday notice 5427'),
    (1122, 'Sample box 1685'),
    (1123, 'Call about contract 1594'),
    (1124, 'Stock notice 6551'),
    (1125, 'Holiday notice 2545'),
    (1126, 'Price list 7026'),
    (1127, 'Call about contract 6539'),
    (1128, 'Fitting for display 6472'),
    (1129, 'Delivery slot for pallet 5456'),
    (1130, 'Holiday notice 3484'),
    (1131, 'Price list 3278'),
    (1132, 'Invoice 1155'),
    (1133, 'Fitting for display 5778'),
    (1134, 'Delivery slot for pallet 7163'),
    (1135, 'Price list 4415'),
    (1136, 'Invoice 3931'),
    (1137, 'Stock notice 9823'),
    (1138, 'Delivery slot for pallet 7112'),
    (1139, 'Visit to your warehouse, 8144'),
    (1140, 'Sample box 8524'),
    (1141, 'Invoice 9111'),
    (1142, 'Stock notice 1698'),
    (1143, 'Holiday notice 7021'),
    (1144, 'Visit to your warehouse, 6166'),
    (1145, 'Sample box 5264'),
    (1146, 'Stock notice 4380'),
    (1147, 'Holiday notice 1676'),
    (1148, 'Price list 1703'),
    (1149, 'Delivery slot for pallet 1314'),
    (1150, 'Visit to your warehouse, 5571'),
    (1151, 'Delivery slot for pallet 3540'),
    (1152, 'Visit to your warehouse, 2895'),
    (1153, 'Delivery slot for pallet 6696'),
    (1154, 'Visit to your warehouse, 9543'),
    (1155, 'Delivery slot for pallet 3195'),
    (1156, 'Visit to your warehouse, 5212'),
    (1157, 'Rota for store 2906'),
    (1158, 'Margins of line 8431'),
    (1159, 'Margins of line 5510'),
    (1160, 'Notes on offer 1367'),
    (1161, 'Notes on offer 2342'),
    (1162, 'Rota for store 7509'),
    (1163, 'Rota for store 8802'),
    (1164, 'Margins of line 2651'),
    (1165, 'Margins of line 3995'),
    (1166, 'Notes on offer 5597'),
    (1167, 'Notes on offer 5964'),
    (1168, 'Rota for store 4262'),
    (1169, 'Rota for store 2958'),
    (1170, 'Margins of line 4130'),
    (1171, 'Margins of line 2612'),
    (1172, 'Notes on offer 9666'),
    (1173, 'Notes on offer 1048'),
    (1174, 'Rota for store 1244'),
    (1175, 'Offer 4508'),
    (1176, 'Order 1065'),
    (1177, 'Offer 7850'),
    (1178, 'Order 7593'),
    (1179, 'Offer 1251'),
    (1180, 'Order 3148'),
    (1181, 'Offer 2377'),
    (1182, 'Order 4090'),
    (1183, 'Offer 7811'),
    (1184, 'Order 1826'),
    (1185, 'Offer 8659'),
    (1186, 'Order 6122'),
    (1187, 'Offer 6350'),
    (1188, 'Order 9113'),
    (1189, 'Offer 1647'),
    (1190, 'Order 1011'),
    (1191, 'Offer 8993'),
    (1192, 'Order 9653'),
    (1193, 'Offer 8323'),
    (1194, 'Order 3593'),
    (1195, 'Offer 5257'),
    (1196, 'Order 2056'),
    (1197, 'Offer 8306'),
    (1198, 'Order 3724');

INSERT INTO mails (mail_id, thread_id, folder, sender, body, sent_at, unread) VALUES
    (3001, 1059, 'inbox', 'cilla.norling@silverdale-mills.example', 'Hello,

Our office is closed in week 16. Your contact number is 1462.

Cilla Norling, Silverdale Mills', '2026-01-16 09:47:00', 0),
    (3004, 1005, 'inbox', 'nils.stavik@harrowgate-paper.example', 'Hello,

Article 7272 is back in stock.

Nils Stavik, Harrowgate Paper', '2026-01-16 11:44:00', 1),
    (3007, 1032, 'archive', 'finn.lindgaard@stonebridge-logistics.example', 'Hello,

Article 9903 is back in stock.

Finn Lindgaard, Stonebridge Logistics', '2026-01-17 03:06:00', 0),
    (3010, 1137, 'inbox', 'nils.stavik@penhallow-print.example', 'Hello,

Article 9823 is back in stock.

Nils Stavik, Penhallow Print', '2026-01-17 03:09:00', 1),
    (3013, 1071, 'inbox', 'ylva.dahlberg@ashcombe-logistics.example', 'Hello,

Article 9015 is back in stock.

Ylva Dahlberg, Ashcombe Logistics', '2026-01-17 03:27:00', 1),
    (3016, 1126, 'inbox', 'lotte.rosendal@penhallow-print.example', 'Hello,

Attached is price list 7026, valid from the first of next month.

Lotte Rosendal, Penhallow Print', '2026-01-17 06:11:00', 1),
    (3019, 1050, 'inbox', 'bent.lundmark@harrowgate-paper.example', 'Hello,

Display 2724 has to be put up. Tell us when we may come.

Bent Lundmark, Harrowgate Paper', '2026-01-18 03:55:00', 1),
    (3022, 1014, 'inbox', 'jelka.norling@windrush-leather.example', 'Hello,

Article 5932 is back in stock.

Jelka Norling, Windrush Leather', '2026-01-18 04:10:00', 0),
    (3025, 1064, 'inbox', 'corin.thornby@windrush-leather.example', 'Hello,

Our office is closed in week 16. Your contact number is 3739.

Corin Thornby, Windrush Leather', '2026-01-18 07:09:00', 0),
    (3028, 1121, 'inbox', 'malik.brandvik@ashcombe-logistics.example', 'Hello,

Our office is closed in week 16. Your contact number is 5427.

Malik Brandvik, Ashcombe Logistics', '2026-01-18 21:09:00', 1),
    (3031, 1156, 'inbox', 'noreply@eastmere-print.example', 'Hello,

We are 5212 people. When would a visit suit you?

Eastmere Print Bookings, Eastmere Print', '2026-01-19 07:37:00', 1),
    (3034, 1163, 'inbox', 'ivo.hartwig@larkspur.example', 'Hello,

Here is who is in store 8802 when. Please keep it among us.

Ivo Hartwig, Larkspur & Pine', '2026-01-19 12:37:00', 0),
    (3037, 1128, 'inbox', 'hedda.nybakk@stonebridge-logistics.example', 'Hello,

Display 6472 has to be put up. Tell us when we may come.

Hedda Nybakk, Stonebridge Logistics', '2026-01-19 14:33:00', 0),
    (3040, 1089, 'inbox', 'dov.brandvik@ashcombe-optics.example', 'Hello,

We are 1629 people. When would a visit suit you?

Dov Brandvik, Ashcombe Optics', '2026-01-19 17:35:00', 1),
    (3043, 1074, 'inbox', 'suna.falkner@penhallow-print.example', 'Hello,

On which day and at what time can we deliver pallet 9513?

Suna Falkner, Penhallow Print', '2026-01-19 21:30:00', 0),
    (3046, 1074, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-01-19 23:43:00', 0),
    (3049, 1045, 'inbox', 'ivo.fenner@redcliff-packaging.example', 'Hello,

Could we speak about contract 9962? Please name a day and a time.

Ivo Fenner, Redcliff Packaging', '2026-01-20 11:42:00', 0),
    (3052, 1165, 'inbox', 'jelka.merrow@larkspur.example', 'Hello,

The margins of line 3995 for the meeting. Not for suppliers.

Jelka Merrow, Larkspur & Pine', '2026-01-21 02:38:00', 0),
    (3055, 1054, 'archive', 'bent.lundmark@harrowgate-paper.example', 'Hello,

Article 7530 is back in stock.

Bent Lundmark, Harrowgate Paper', '2026-01-21 10:14:00', 0),
    (3058, 1011, 'inbox', 'freja.pellworm@silverdale-mills.example', 'Hello,

Our office is closed in week 16. Your contact number is 6426.

Freja Pellworm, Silverdale Mills', '2026-01-21 14:47:00', 1),
    (3061, 1120, 'inbox', 'malik.brandvik@ashcombe-logistics.example', 'Hello,

Article 3694 is back in stock.

Malik Brandvik, Ashcombe Logistics', '2026-01-21 15:15:00', 0),
    (3064, 1065, 'inbox', 'corin.thornby@windrush-leather.example', 'Hello,

Attached is price list 5284, valid from the first of next month.

Corin Thornby, Windrush Leather', '2026-01-21 15:34:00', 0),
    (3067, 1141, 'inbox', 'freja.pellworm@stonebridge-logistics.example', 'Hello,

Invoice 9111 is due within 30 days.

Freja Pellworm, Stonebridge Logistics', '2026-01-22 05:42:00', 0),
    (3070, 1044, 'inbox', 'suna.norling@ashcombe-optics.example', 'Hello,

Invoice 3489 is due within 30 days.

Suna Norling, Ashcombe Optics', '2026-01-23 11:01:00', 1),
    (3073, 1075, 'inbox', 'suna.falkner@penhallow-print.example', 'Hello,

Invoice 7462 is due within 30 days.

Suna Falkner, Penhallow Print', '2026-01-24 03:24:00', 0),
    (3076, 1033, 'inbox', 'finn.lindgaard@stonebridge-logistics.example', 'Hello,

Our office is closed in week 16. Your contact number is 4319.

Finn Lindgaard, Stonebridge Logistics', '2026-01-24 08:55:00', 1),
    (3079, 1118, 'inbox', 'malik.brandvik@ashcombe-logistics.example', 'Hello,

Could we speak about contract 5753? Please name a day and a time.

Malik Brandvik, Ashcombe Logistics', '2026-01-24 16:40:00', 0),
    (3082, 1031, 'archive', 'finn.lindgaard@stonebridge-logistics.example', 'Hello,

Invoice 1169 is due within 30 days.

Finn Lindgaard, Stonebridge Logistics', '2026-01-24 20:41:00', 0),
    (3085, 1118, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-01-25 01:51:00', 0),
    (3088, 1023, 'inbox', 'otis.rosendal@penhallow-print.example', 'Hello,

Display 3564 has to be put up. Tell us when we may come.

Otis Rosendal, Penhallow Print', '2026-01-25 08:04:00', 1),
    (3091, 1028, 'archive', 'finn.lindgaard@stonebridge-logistics.example', 'Hello,

On which day and at what time can we deliver pallet 6282?

Finn Lindgaard, Stonebridge Logistics', '2026-01-25 08:49:00', 0),
    (3094, 1027, 'inbox', 'otis.rosendal@penhallow-print.example', 'Hello,

Article 1591 is back in stock.

Otis Rosendal, Penhallow Print', '2026-01-25 09:57:00', 1),
    (3097, 1171, 'archive', 'petra.colmar@larkspur.example', 'Hello,

The margins of line 2612 for the meeting. Not for suppliers.

Petra Colmar, Larkspur & Pine', '2026-01-25 15:24:00', 0),
    (3100, 1122, 'inbox', 'lotte.rosendal@penhallow-print.example', 'Hello,

Our driver could collect sample box 1685. When is somebody there?

Lotte Rosendal, Penhallow Print', '2026-01-26 01:42:00', 1),
    (3103, 1101, 'inbox', 'ida.yarborough@harrowgate-paper.example', 'Hello,

Display 7804 has to be put up. Tell us when we may come.

Ida Yarborough, Harrowgate Paper', '2026-01-26 09:19:00', 1),
    (3106, 1077, 'inbox', 'suna.falkner@penhallow-print.example', 'Hello,

Our office is closed in week 16. Your contact number is 1138.

Suna Falkner, Penhallow Print', '2026-01-26 09:30:00', 1),
    (3109, 1150, 'inbox', 'noreply@ashcombe-leather.example', 'Hello,

We are 5571 people. When would a visit suit you?

Ashcombe Leather Bookings, Ashcombe Leather', '2026-01-26 13:03:00', 0),
    (3112, 1116, 'inbox', 'malik.brandvik@ashcombe-logistics.example', 'Hello,

We are 7478 people. When would a visit suit you?

Malik Brandvik, Ashcombe Logistics', '2026-01-26 18:35:00', 1),
    (3115, 1088, 'inbox', 'dov.overbeck@fairlight-hardware.example', 'Hello,

Invoice 5956 is due within 30 days.

Dov Overbeck, Fairlight Hardware', '2026-01-27 14:38:00', 1),
    (3118, 1055, 'inbox', 'bent.lundmark@harrowgate-paper.example', 'Hello,

Our office is closed in week 16. Your contact number is 9154.

Bent Lundmark, Harrowgate Paper', '2026-01-27 20:48:00', 1),
    (3121, 1114, 'inbox', 'noor.lindgaard@windrush-leather.example', 'Hello,

Invoice 5817 is due within 30 days.

Noor Lindgaard, Windrush Leather', '2026-01-28 10:32:00', 0),
    (3124, 1095, 'inbox', 'nils.hartwig@redcliff-packaging.example', 'Hello,

Could we speak about contract 6640? Please name a day and a time.

Nils Hartwig, Redcliff Packaging', '2026-01-28 18:35:00', 1),
    (3127, 1148, 'inbox', 'jelka.norling@fairlight-hardware.example', 'Hello,

Attached is price list 1703, valid from the first of next month.

Jelka Norling, Fairlight Hardware', '2026-01-28 21:46:00', 1),
    (3130, 1102, 'inbox', 'ida.yarborough@harrowgate-paper.example', 'Hello,

Article 5912 is back in stock.

Ida Yarborough, Harrowgate Paper', '2026-01-28 22:31:00', 0),
    (3133, 1046, 'archive', 'ivo.fenner@redcliff-packaging.example', 'Hello,

Display 6935 has to be put up. Tell us when we may come.

Ivo Fenner, Redcliff Packaging', '2026-01-28 23:03:00', 0),
    (3136, 1094, 'inbox', 'nils.hartwig@redcliff-packaging.example', 'Hello,

Our driver could collect sample box 3046. When is somebody there?

Nils Hartwig, Redcliff Packaging', '2026-01-29 10:19:00', 1),
    (3139, 1144, 'archive', 'jelka.norling@fairlight-hardware.example', 'Hello,

We are 6166 people. When would a visit suit you?

Jelka Norling, Fairlight Hardware', '2026-01-29 12:23:00', 0),
    (3142, 1035, 'archive', 'noor.stavik@fairlight-hardware.example', 'Hello,

Our driver could collect sample box 9176. When is somebody there?

Noor Stavik, Fairlight Hardware', '2026-01-29 18:10:00', 0),
    (3145, 1001, 'inbox', 'nils.stavik@harrowgate-paper.example', 'Hello,

On which day and at what time can we deliver pallet 2495?

Nils Stavik, Harrowgate Paper', '2026-01-29 20:50:00', 0),
    (3148, 1167, 'inbox', 'malik.drewitz@larkspur.example', 'Hello,

My notes on offer 5964. We should not go above last year''s price.

Malik Drewitz, Larkspur & Pine', '2026-01-29 22:00:00', 0),
    (3151, 1112, 'inbox', 'noor.lindgaard@windrush-leather.example', 'Hello,

We are 8842 people. When would a visit suit you?

Noor Lindgaard, Windrush Leather', '2026-01-30 07:50:00', 1),
    (3154, 1132, 'inbox', 'hedda.nybakk@stonebridge-logistics.example', 'Hello,

Invoice 1155 is due within 30 days.

Hedda Nybakk, Stonebridge Logistics', '2026-01-30 08:06:00', 1),
    (3157, 1008, 'inbox', 'freja.pellworm@silverdale-mills.example', 'Hello,

Could we speak about contract 8558? Please name a day and a time.

Freja Pellworm, Silverdale Mills', '2026-01-30 20:24:00', 0),
    (3160, 1008, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-01-31 01:38:00', 0),
    (3163, 1030, 'inbox', 'finn.lindgaard@stonebridge-logistics.example', 'Hello,

Our driver could collect sample box 6584. When is somebody there?

Finn Lindgaard, Stonebridge Logistics', '2026-01-31 03:31:00', 0),
    (3166, 1153, 'inbox', 'noreply@thornbury-catering.example', 'Hello,

On which day and at what time can we deliver pallet 6696?

Thornbury Catering Bookings, Thornbury Catering', '2026-01-31 06:13:00', 0),
    (3169, 1030, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-01-31 08:39:00', 0),
    (3172, 1100, 'inbox', 'ida.yarborough@harrowgate-paper.example', 'Hello,

Could we speak about contract 2790? Please name a day and a time.

Ida Yarborough, Harrowgate Paper', '2026-01-31 17:54:00', 1),
    (3175, 1127, 'inbox', 'hedda.nybakk@stonebridge-logistics.example', 'Hello,

Could we speak about contract 6539? Please name a day and a time.

Hedda Nybakk, Stonebridge Logistics', '2026-01-31 20:52:00', 0),
    (3178, 1040, 'inbox', 'suna.norling@ashcombe-optics.example', 'Hello,

Could we speak about contract 7660? Please name a day and a time.

Suna Norling, Ashcombe Optics', '2026-01-31 23:41:00', 0),
    (3181, 1099, 'inbox', 'nils.hartwig@redcliff-packaging.example', 'Hello,

Our office is closed in week 16. Your contact number is 2638.

Nils Hartwig, Redcliff Packaging', '2026-02-01 00:13:00', 1),
    (3184, 1146, 'inbox', 'jelka.norling@fairlight-hardware.example', 'Hello,

Article 4380 is back in stock.

Jelka Norling, Fairlight Hardware', '2026-02-01 11:51:00', 0),
    (3187, 1020, 'inbox', 'malik.yarborough@ashcombe-logistics.example', 'Hello,

Our office is closed in week 16. Your contact number is 8717.

Malik Yarborough, Ashcombe Logistics', '2026-02-01 21:47:00', 0),
    (3190, 1168, 'inbox', 'malik.drewitz@larkspur.example', 'Hello,

Here is who is in store 4262 when. Please keep it among us.

Malik Drewitz, Larkspur & Pine', '2026-02-01 22:52:00', 0),
    (3193, 1029, 'archive', 'finn.lindgaard@stonebridge-logistics.example', 'Hello,

We are 6224 people. When would a visit suit you?

Finn Lindgaard, Stonebridge Logistics', '2026-02-01 23:36:00', 0),
    (3196, 1007, 'inbox', 'freja.pellworm@silverdale-mills.example', 'Hello,

Our driver could collect sample box 7093. When is somebody there?

Freja Pellworm, Silverdale Mills', '2026-02-02 02:32:00', 0),
    (3199, 1093, 'inbox', 'dov.brandvik@ashcombe-optics.example', 'Hello,

Article 8859 is back in stock.

Dov Brandvik, Ashcombe Optics', '2026-02-02 04:35:00', 1),
    (3202, 1002, 'inbox', 'nils.stavik@harrowgate-paper.example', 'Hello,

We are 1560 people. When would a visit suit you?

Nils Stavik, Harrowgate Paper', '2026-02-02 10:30:00', 0),
    (3205, 1004, 'inbox', 'nils.stavik@harrowgate-paper.example', 'Hello,

Invoice 9690 is due within 30 days.

Nils Stavik, Harrowgate Paper', '2026-02-02 12:10:00', 0),
    (3208, 1084, 'inbox', 'dov.overbeck@fairlight-hardware.example', 'Hello,

We are 2434 people. When would a visit suit you?

Dov Overbeck, Fairlight Hardware', '2026-02-02 20:24:00', 0),
    (3211, 1162, 'inbox', 'jonas.arvidson@larkspur.example', 'Hello,

Here is who is in store 7509 when. Please keep it among us.

Jonas Arvidson, Larkspur & Pine', '2026-02-03 01:22:00', 0),
    (3214, 1042, 'archive', 'suna.norling@ashcombe-optics.example', 'Hello,

Our office is closed in week 16. Your contact number is 9003.

Suna Norling, Ashcombe Optics', '2026-02-03 17:27:00', 0),
    (3217, 1048, 'inbox', 'ivo.fenner@redcliff-packaging.example', 'Hello,

Invoice 8520 is due within 30 days.

Ivo Fenner, Redcliff Packaging', '2026-02-03 23:46:00', 0),
    (3220, 1072, 'inbox', 'suna.falkner@penhallow-print.example', 'Hello,

Could we speak about contract 8358? Please name a day and a time.

Suna Falkner, Penhallow Print', '2026-02-04 13:46:00', 0),
    (3223, 1083, 'archive', 'dov.overbeck@fairlight-hardware.example', 'Hello,

On which day and at what time can we deliver pallet 2088?

Dov Overbeck, Fairlight Hardware', '2026-02-04 16:25:00', 0),
    (3226, 1025, 'inbox', 'otis.rosendal@penhallow-print.example', 'Hello,

Attached is price list 3440, valid from the first of next month.

Otis Rosendal, Penhallow Print', '2026-02-04 18:12:00', 0),
    (3229, 1106, 'inbox', 'tove.holloway@silverdale-mills.example', 'Hello,

On which day and at what time can we deliver pallet 2171?

Tove Holloway, Silverdale Mills', '2026-02-04 22:30:00', 0),
    (3232, 1108, 'inbox', 'tove.holloway@silverdale-mills.example', 'Hello,

Our office is closed in week 16. Your contact number is 3952.

Tove Holloway, Silverdale Mills', '2026-02-05 00:06:00', 0),
    (3235, 1125, 'inbox', 'lotte.rosendal@penhallow-print.example', 'Hello,

Our office is closed in week 16. Your contact number is 2545.

Lotte Rosendal, Penhallow Print', '2026-02-05 13:36:00', 0),
    (3238, 1113, 'archive', 'noor.lindgaard@windrush-leather.example', 'Hello,

Attached is price list 2892, valid from the first of next month.

Noor Lindgaard, Windrush Leather', '2026-02-05 19:22:00', 0),
    (3241, 1124, 'inbox', 'lotte.rosendal@penhallow-print.example', 'Hello,

Article 6551 is back in stock.

Lotte Rosendal, Penhallow Print', '2026-02-05 22:41:00', 0),
    (3244, 1174, 'inbox', 'levi.merrow@larkspur.example', 'Hello,

Here is who is in store 1244 when. Please keep it among us.

Levi Merrow, Larkspur & Pine', '2026-02-06 06:16:00', 0),
    (3247, 1170, 'inbox', 'hamid.thornby@larkspur.example', 'Hello,

The margins of line 4130 for the meeting. Not for suppliers.

Hamid Thornby, Larkspur & Pine', '2026-02-06 10:38:00', 0),
    (3250, 1076, 'inbox', 'suna.falkner@penhallow-print.example', 'Hello,

Article 2616 is back in stock.

Suna Falkner, Penhallow Print', '2026-02-06 14:46:00', 0),
    (3253, 1009, 'inbox', 'freja.pellworm@silverdale-mills.example', 'Hello,

Invoice 3448 is due within 30 days.

Freja Pellworm, Silverdale Mills', '2026-02-06 16:23:00', 0),
    (3256, 1139, 'inbox', 'freja.pellworm@stonebridge-logistics.example', 'Hello,

We are 8144 people. When would a visit suit you?

Freja Pellworm, Stonebridge Logistics', '2026-02-07 04:46:00', 1),
    (3259, 1159, 'inbox', 'petra.eastwood@larkspur.example', 'Hello,

The margins of line 5510 for the meeting. Not for suppliers.

Petra Eastwood, Larkspur & Pine', '2026-02-07 08:40:00', 0),
    (3262, 1135, 'inbox', 'nils.stavik@penhallow-print.example', 'Hello,

Attached is price list 4415, valid from the first of next month.

Nils Stavik, Penhallow Print', '2026-02-07 12:03:00', 0),
    (3265, 1006, 'archive', 'freja.pellworm@silverdale-mills.example', 'Hello,

We are 9283 people. When would a visit suit you?

Freja Pellworm, Silverdale Mills', '2026-02-07 19:18:00', 0),
    (3268, 1069, 'archive', 'ylva.dahlberg@ashcombe-logistics.example', 'Hello,

Attached is price list 7941, valid from the first of next month.

Ylva Dahlberg, Ashcombe Logistics', '2026-02-08 04:58:00', 0),
    (3271, 1134, 'inbox', 'nils.stavik@penhallow-print.example', 'Hello,

On which day and at what time can we deliver pallet 7163?

Nils Stavik, Penhallow Print', '2026-02-08 05:44:00', 1),
    (3274, 1022, 'inbox', 'malik.yarborough@ashcombe-logistics.example', 'Hello,

Invoice 7219 is due within 30 days.

Malik Yarborough, Ashcombe Logistics', '2026-02-08 07:40:00', 1),
    (3277, 1131, 'inbox', 'hedda.nybakk@stonebridge-logistics.example', 'Hello,

Attached is price list 3278, valid from the first of next month.

Hedda Nybakk, Stonebridge Logistics', '2026-02-08 10:53:00', 0),
    (3280, 1103, 'inbox', 'ida.yarborough@harrowgate-paper.example', 'Hello,

Our office is closed in week 16. Your contact number is 6392.

Ida Yarborough, Harrowgate Paper', '2026-02-08 17:22:00', 0),
    (3283, 1021, 'inbox', 'malik.yarborough@ashcombe-logistics.example', 'Hello,

Attached is price list 5833, valid from the first of next month.

Malik Yarborough, Ashcombe Logistics', '2026-02-08 20:47:00', 0),
    (3286, 1039, 'inbox', 'suna.norling@ashcombe-optics.example', 'Hello,

Our driver could collect sample box 7944. When is somebody there?

Suna Norling, Ashcombe Optics', '2026-02-09 00:31:00', 1),
    (3289, 1066, 'inbox', 'corin.thornby@windrush-leather.example', 'Hello,

Invoice 4616 is due within 30 days.

Corin Thornby, Windrush Leather', '2026-02-09 02:04:00', 1),
    (3292, 1154, 'inbox', 'noreply@thornbury-catering.example', 'Hello,

We are 9543 people. When would a visit suit you?

Thornbury Catering Bookings, Thornbury Catering', '2026-02-09 09:27:00', 0),
    (3295, 1085, 'inbox', 'dov.overbeck@fairlight-hardware.example', 'Hello,

Our driver could collect sample box 3738. When is somebody there?

Dov Overbeck, Fairlight Hardware', '2026-02-09 12:09:00', 0),
    (3298, 1037, 'inbox', 'noor.stavik@fairlight-hardware.example', 'Hello,

Our office is closed in week 16. Your contact number is 9126.

Noor Stavik, Fairlight Hardware', '2026-02-09 12:25:00', 0),
    (3301, 1161, 'archive', 'jonas.arvidson@larkspur.example', 'Hello,

My notes on offer 2342. We should not go above last year''s price.

Jonas Arvidson, Larkspur & Pine', '2026-02-09 18:12:00', 0),
    (3304, 1085, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-09 21:15:00', 0),
    (3307, 1151, 'inbox', 'noreply@fairlight-catering.example', 'Hello,

On which day and at what time can we deliver pallet 3540?

Fairlight Catering Bookings, Fairlight Catering', '2026-02-09 23:57:00', 0),
    (3310, 1096, 'inbox', 'nils.hartwig@redcliff-packaging.example', 'Hello,

Display 6532 has to be put up. Tell us when we may come.

Nils Hartwig, Redcliff Packaging', '2026-02-10 13:24:00', 0),
    (3313, 1079, 'inbox', 'rune.brandvik@stonebridge-logistics.example', 'Hello,

On which day and at what time can we deliver pallet 2011?

Rune Brandvik, Stonebridge Logistics', '2026-02-10 15:29:00', 0),
    (3316, 1123, 'inbox', 'lotte.rosendal@penhallow-print.example', 'Hello,

Could we speak about contract 1594? Please name a day and a time.

Lotte Rosendal, Penhallow Print', '2026-02-10 20:54:00', 1),
    (3319, 1096, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-10 21:13:00', 0),
    (3322, 1013, 'inbox', 'jelka.norling@windrush-leather.example', 'Hello,

Could we speak about contract 1260? Please name a day and a time.

Jelka Norling, Windrush Leather', '2026-02-11 04:17:00', 1),
    (3325, 1145, 'inbox', 'jelka.norling@fairlight-hardware.example', 'Hello,

Our driver could collect sample box 5264. When is somebody there?

Jelka Norling, Fairlight Hardware', '2026-02-11 18:26:00', 1),
    (3328, 1080, 'inbox', 'rune.brandvik@stonebridge-logistics.example', 'Hello,

Article 4631 is back in stock.

Rune Brandvik, Stonebridge Logistics', '2026-02-11 19:52:00', 0),
    (3331, 1158, 'inbox', 'jelka.yarborough@larkspur.example', 'Hello,

The margins of line 8431 for the meeting. Not for suppliers.

Jelka Yarborough, Larkspur & Pine', '2026-02-12 01:15:00', 0),
    (3334, 1130, 'inbox', 'hedda.nybakk@stonebridge-logistics.example', 'Hello,

Our office is closed in week 16. Your contact number is 3484.

Hedda Nybakk, Stonebridge Logistics', '2026-02-12 09:23:00', 0),
    (3337, 1060, 'inbox', 'cilla.norling@silverdale-mills.example', 'Hello,

Attached is price list 2894, valid from the first of next month.

Cilla Norling, Silverdale Mills', '2026-02-13 02:27:00', 1),
    (3340, 1140, 'archive', 'freja.pellworm@stonebridge-logistics.example', 'Hello,

Our driver could collect sample box 8524. When is somebody there?

Freja Pellworm, Stonebridge Logistics', '2026-02-13 13:49:00', 0),
    (3343, 1140, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-13 14:04:00', 0),
    (3346, 1172, 'inbox', 'petra.colmar@larkspur.example', 'Hello,

My notes on offer 9666. We should not go above last year''s price.

Petra Colmar, Larkspur & Pine', '2026-02-13 16:22:00', 0),
    (3349, 1157, 'inbox', 'jelka.yarborough@larkspur.example', 'Hello,

Here is who is in store 2906 when. Please keep it among us.

Jelka Yarborough, Larkspur & Pine', '2026-02-13 20:37:00', 0),
    (3352, 1097, 'archive', 'nils.hartwig@redcliff-packaging.example', 'Hello,

Invoice 8776 is due within 30 days.

Nils Hartwig, Redcliff Packaging', '2026-02-14 06:13:00', 0),
    (3355, 1119, 'inbox', 'malik.brandvik@ashcombe-logistics.example', 'Hello,

Invoice 3458 is due within 30 days.

Malik Brandvik, Ashcombe Logistics', '2026-02-14 06:45:00', 0),
    (3358, 1016, 'inbox', 'jelka.norling@windrush-leather.example', 'Hello,

Attached is price list 4697, valid from the first of next month.

Jelka Norling, Windrush Leather', '2026-02-14 13:10:00', 1),
    (3361, 1010, 'inbox', 'freja.pellworm@silverdale-mills.example', 'Hello,

Article 3642 is back in stock.

Freja Pellworm, Silverdale Mills', '2026-02-14 14:38:00', 0),
    (3364, 1136, 'inbox', 'nils.stavik@penhallow-print.example', 'Hello,

Invoice 3931 is due within 30 days.

Nils Stavik, Penhallow Print', '2026-02-15 06:24:00', 0),
    (3367, 1155, 'inbox', 'noreply@eastmere-print.example', 'Hello,

On which day and at what time can we deliver pallet 3195?

Eastmere Print Bookings, Eastmere Print', '2026-02-15 08:46:00', 1),
    (3370, 1082, 'inbox', 'rune.brandvik@stonebridge-logistics.example', 'Hello,

Attached is price list 2397, valid from the first of next month.

Rune Brandvik, Stonebridge Logistics', '2026-02-16 03:00:00', 1),
    (3373, 1133, 'inbox', 'nils.stavik@penhallow-print.example', 'Hello,

Display 5778 has to be put up. Tell us when we may come.

Nils Stavik, Penhallow Print', '2026-02-16 03:28:00', 1),
    (3376, 1104, 'inbox', 'ida.yarborough@harrowgate-paper.example', 'Hello,

Attached is price list 7615, valid from the first of next month.

Ida Yarborough, Harrowgate Paper', '2026-02-16 03:54:00', 1),
    (3379, 1070, 'archive', 'ylva.dahlberg@ashcombe-logistics.example', 'Hello,

Invoice 4569 is due within 30 days.

Ylva Dahlberg, Ashcombe Logistics', '2026-02-16 06:19:00', 0),
    (3382, 1034, 'archive', 'noor.stavik@fairlight-hardware.example', 'Hello,

We are 9179 people. When would a visit suit you?

Noor Stavik, Fairlight Hardware', '2026-02-16 09:06:00', 0),
    (3385, 1149, 'inbox', 'noreply@ashcombe-leather.example', 'Hello,

On which day and at what time can we deliver pallet 1314?

Ashcombe Leather Bookings, Ashcombe Leather', '2026-02-16 10:29:00', 0),
    (3388, 1003, 'inbox', 'nils.stavik@harrowgate-paper.example', 'Hello,

Attached is price list 9241, valid from the first of next month.

Nils Stavik, Harrowgate Paper', '2026-02-16 13:37:00', 0),
    (3391, 1015, 'inbox', 'jelka.norling@windrush-leather.example', 'Hello,

Our office is closed in week 16. Your contact number is 1675.

Jelka Norling, Windrush Leather', '2026-02-16 16:26:00', 0),
    (3394, 1117, 'inbox', 'malik.brandvik@ashcombe-logistics.example', 'Hello,

Our driver could collect sample box 6923. When is somebody there?

Malik Brandvik, Ashcombe Logistics', '2026-02-16 20:28:00', 0),
    (3397, 1109, 'inbox', 'tove.holloway@silverdale-mills.example', 'Hello,

Attached is price list 6054, valid from the first of next month.

Tove Holloway, Silverdale Mills', '2026-02-17 00:05:00', 0),
    (3400, 1092, 'inbox', 'dov.brandvik@ashcombe-optics.example', 'Hello,

Invoice 2910 is due within 30 days.

Dov Brandvik, Ashcombe Optics', '2026-02-17 03:29:00', 0),
    (3403, 1147, 'archive', 'jelka.norling@fairlight-hardware.example', 'Hello,

Our office is closed in week 16. Your contact number is 1676.

Jelka Norling, Fairlight Hardware', '2026-02-17 10:44:00', 0),
    (3406, 1012, 'inbox', 'jelka.norling@windrush-leather.example', 'Hello,

Our driver could collect sample box 8359. When is somebody there?

Jelka Norling, Windrush Leather', '2026-02-17 19:50:00', 0),
    (3409, 1068, 'inbox', 'ylva.dahlberg@ashcombe-logistics.example', 'Hello,

Could we speak about contract 2380? Please name a day and a time.

Ylva Dahlberg, Ashcombe Logistics', '2026-02-17 23:58:00', 0),
    (3412, 1041, 'archive', 'suna.norling@ashcombe-optics.example', 'Hello,

Display 3441 has to be put up. Tell us when we may come.

Suna Norling, Ashcombe Optics', '2026-02-18 03:04:00', 0),
    (3415, 1056, 'inbox', 'cilla.norling@silverdale-mills.example', 'Hello,

On which day and at what time can we deliver pallet 4314?

Cilla Norling, Silverdale Mills', '2026-02-18 06:07:00', 1),
    (3418, 1041, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-18 12:51:00', 0),
    (3421, 1164, 'inbox', 'ivo.hartwig@larkspur.example', 'Hello,

The margins of line 2651 for the meeting. Not for suppliers.

Ivo Hartwig, Larkspur & Pine', '2026-02-19 02:23:00', 0),
    (3424, 1043, 'inbox', 'suna.norling@ashcombe-optics.example', 'Hello,

Attached is price list 2726, valid from the first of next month.

Suna Norling, Ashcombe Optics', '2026-02-19 07:10:00', 0),
    (3427, 1160, 'inbox', 'petra.eastwood@larkspur.example', 'Hello,

My notes on offer 1367. We should not go above last year''s price.

Petra Eastwood, Larkspur & Pine', '2026-02-19 17:32:00', 0),
    (3430, 1090, 'inbox', 'dov.brandvik@ashcombe-optics.example', 'Hello,

Our driver could collect sample box 7998. When is somebody there?

Dov Brandvik, Ashcombe Optics', '2026-02-20 11:12:00', 0),
    (3433, 1026, 'inbox', 'otis.rosendal@penhallow-print.example', 'Hello,

Invoice 9613 is due within 30 days.

Otis Rosendal, Penhallow Print', '2026-02-20 21:03:00', 0),
    (3436, 1038, 'inbox', 'noor.stavik@fairlight-hardware.example', 'Hello,

Attached is price list 9549, valid from the first of next month.

Noor Stavik, Fairlight Hardware', '2026-02-21 01:57:00', 1),
    (3439, 1091, 'inbox', 'dov.brandvik@ashcombe-optics.example', 'Hello,

Attached is price list 9164, valid from the first of next month.

Dov Brandvik, Ashcombe Optics', '2026-02-21 07:26:00', 0),
    (3442, 1078, 'inbox', 'rune.brandvik@stonebridge-logistics.example', 'Hello,

Display 7314 has to be put up. Tell us when we may come.

Rune Brandvik, Stonebridge Logistics', '2026-02-21 09:06:00', 1),
    (3445, 1058, 'inbox', 'cilla.norling@silverdale-mills.example', 'Hello,

Article 9624 is back in stock.

Cilla Norling, Silverdale Mills', '2026-02-21 15:41:00', 0),
    (3448, 1152, 'inbox', 'noreply@fairlight-catering.example', 'Hello,

We are 2895 people. When would a visit suit you?

Fairlight Catering Bookings, Fairlight Catering', '2026-02-22 02:14:00', 1),
    (3451, 1019, 'inbox', 'malik.yarborough@ashcombe-logistics.example', 'Hello,

On which day and at what time can we deliver pallet 2097?

Malik Yarborough, Ashcombe Logistics', '2026-02-22 20:40:00', 0),
    (3454, 1019, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-22 21:21:00', 0),
    (3457, 1047, 'inbox', 'ivo.fenner@redcliff-packaging.example', 'Hello,

Attached is price list 7203, valid from the first of next month.

Ivo Fenner, Redcliff Packaging', '2026-02-23 02:53:00', 0),
    (3460, 1098, 'inbox', 'nils.hartwig@redcliff-packaging.example', 'Hello,

Article 8893 is back in stock.

Nils Hartwig, Redcliff Packaging', '2026-02-23 06:17:00', 0),
    (3463, 1018, 'inbox', 'malik.yarborough@ashcombe-logistics.example', 'Hello,

Display 2396 has to be put up. Tell us when we may come.

Malik Yarborough, Ashcombe Logistics', '2026-02-23 08:06:00', 0),
    (3466, 1129, 'inbox', 'hedda.nybakk@stonebridge-logistics.example', 'Hello,

On which day and at what time can we deliver pallet 5456?

Hedda Nybakk, Stonebridge Logistics', '2026-02-23 11:29:00', 0),
    (3469, 1129, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-23 13:37:00', 0),
    (3472, 1063, 'inbox', 'corin.thornby@windrush-leather.example', 'Hello,

Could we speak about contract 8075? Please name a day and a time.

Corin Thornby, Windrush Leather', '2026-02-24 03:27:00', 0),
    (3475, 1063, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-24 03:57:00', 0),
    (3478, 1111, 'inbox', 'noor.lindgaard@windrush-leather.example', 'Hello,

On which day and at what time can we deliver pallet 4937?

Noor Lindgaard, Windrush Leather', '2026-02-24 06:02:00', 1),
    (3481, 1105, 'inbox', 'tove.holloway@silverdale-mills.example', 'Hello,

Display 5968 has to be put up. Tell us when we may come.

Tove Holloway, Silverdale Mills', '2026-02-24 12:59:00', 0),
    (3484, 1067, 'inbox', 'ylva.dahlberg@ashcombe-logistics.example', 'Hello,

Our driver could collect sample box 7044. When is somebody there?

Ylva Dahlberg, Ashcombe Logistics', '2026-02-24 15:15:00', 0),
    (3487, 1115, 'inbox', 'noor.lindgaard@windrush-leather.example', 'Hello,

Article 3134 is back in stock.

Noor Lindgaard, Windrush Leather', '2026-02-25 02:34:00', 1),
    (3490, 1107, 'inbox', 'tove.holloway@silverdale-mills.example', 'Hello,

We are 9579 people. When would a visit suit you?

Tove Holloway, Silverdale Mills', '2026-02-25 12:55:00', 0),
    (3493, 1107, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-25 16:57:00', 0),
    (3496, 1169, 'inbox', 'hamid.thornby@larkspur.example', 'Hello,

Here is who is in store 2958 when. Please keep it among us.

Hamid Thornby, Larkspur & Pine', '2026-02-25 19:23:00', 0),
    (3499, 1049, 'inbox', 'ivo.fenner@redcliff-packaging.example', 'Hello,

Article 4253 is back in stock.

Ivo Fenner, Redcliff Packaging', '2026-02-25 22:13:00', 1),
    (3502, 1143, 'inbox', 'freja.pellworm@stonebridge-logistics.example', 'Hello,

Our office is closed in week 16. Your contact number is 7021.

Freja Pellworm, Stonebridge Logistics', '2026-02-26 01:08:00', 1),
    (3505, 1073, 'inbox', 'suna.falkner@penhallow-print.example', 'Hello,

Display 5758 has to be put up. Tell us when we may come.

Suna Falkner, Penhallow Print', '2026-02-26 01:45:00', 0),
    (3508, 1081, 'inbox', 'rune.brandvik@stonebridge-logistics.example', 'Hello,

Our office is closed in week 16. Your contact number is 4254.

Rune Brandvik, Stonebridge Logistics', '2026-02-26 10:03:00', 0),
    (3511, 1061, 'inbox', 'corin.thornby@windrush-leather.example', 'Hello,

We are 6883 people. When would a visit suit you?

Corin Thornby, Windrush Leather', '2026-02-26 12:59:00', 0),
    (3514, 1057, 'inbox', 'cilla.norling@silverdale-mills.example', 'Hello,

We are 8409 people. When would a visit suit you?

Cilla Norling, Silverdale Mills', '2026-02-26 13:11:00', 0),
    (3517, 1142, 'inbox', 'freja.pellworm@stonebridge-logistics.example', 'Hello,

Article 1698 is back in stock.

Freja Pellworm, Stonebridge Logistics', '2026-02-26 17:25:00', 0),
    (3520, 1051, 'inbox', 'bent.lundmark@harrowgate-paper.example', 'Hello,

On which day and at what time can we deliver pallet 4547?

Bent Lundmark, Harrowgate Paper', '2026-02-26 21:17:00', 0),
    (3523, 1138, 'inbox', 'freja.pellworm@stonebridge-logistics.example', 'Hello,

On which day and at what time can we deliver pallet 7112?

Freja Pellworm, Stonebridge Logistics', '2026-02-27 00:14:00', 0),
    (3526, 1086, 'inbox', 'dov.overbeck@fairlight-hardware.example', 'Hello,

Our office is closed in week 16. Your contact number is 3560.

Dov Overbeck, Fairlight Hardware', '2026-02-27 02:49:00', 0),
    (3529, 1166, 'inbox', 'jelka.merrow@larkspur.example', 'Hello,

My notes on offer 5597. We should not go above last year''s price.

Jelka Merrow, Larkspur & Pine', '2026-02-27 03:46:00', 0),
    (3532, 1017, 'inbox', 'malik.yarborough@ashcombe-logistics.example', 'Hello,

Could we speak about contract 9472? Please name a day and a time.

Malik Yarborough, Ashcombe Logistics', '2026-02-27 05:21:00', 0),
    (3535, 1173, 'inbox', 'levi.merrow@larkspur.example', 'Hello,

My notes on offer 1048. We should not go above last year''s price.

Levi Merrow, Larkspur & Pine', '2026-02-27 07:05:00', 0),
    (3538, 1036, 'inbox', 'noor.stavik@fairlight-hardware.example', 'Hello,

Article 6293 is back in stock.

Noor Stavik, Fairlight Hardware', '2026-02-28 00:18:00', 0),
    (3541, 1024, 'inbox', 'otis.rosendal@penhallow-print.example', 'Hello,

On which day and at what time can we deliver pallet 5218?

Otis Rosendal, Penhallow Print', '2026-02-28 06:33:00', 0),
    (3544, 1052, 'inbox', 'bent.lundmark@harrowgate-paper.example', 'Hello,

We are 1699 people. When would a visit suit you?

Bent Lundmark, Harrowgate Paper', '2026-02-28 08:28:00', 0),
    (3547, 1053, 'inbox', 'bent.lundmark@harrowgate-paper.example', 'Hello,

Invoice 4405 is due within 30 days.

Bent Lundmark, Harrowgate Paper', '2026-02-28 09:06:00', 0),
    (3550, 1052, 'sent', 'office@larkspur.example', 'Thank you, we will come back to you.', '2026-02-28 15:40:00', 0),
    (3553, 1110, 'inbox', 'tove.holloway@silverdale-mills.example', 'Hello,

Invoice 1800 is due within 30 days.

Tove Holloway, Silverdale Mills', '2026-02-28 18:24:00', 1),
    (3556, 1087, 'inbox', 'dov.overbeck@fairlight-hardware.example', 'Hello,

Attached is price list 6499, valid from the first of next month.

Dov Overbeck, Fairlight Hardware', '2026-03-01 08:48:00', 0),
    (3559, 1062, 'archive', 'corin.thornby@windrush-leather.example', 'Hello,

Our driver could collect sample box 4154. When is somebody there?

Corin Thornby, Windrush Leather', '2026-03-01 14:29:00', 0),
    (3562, 1175, 'drafts', 'office@larkspur.example', 'Please find our offer 4508 below.', NULL, 0),
    (3565, 1176, 'drafts', 'office@larkspur.example', 'We would like to place order 1065.', NULL, 0),
    (3568, 1177, 'drafts', 'office@larkspur.example', 'Please find our offer 7850 below.', NULL, 0),
    (3571, 1178, 'drafts', 'office@larkspur.example', 'We would like to place order 7593.', NULL, 0),
    (3574, 1179, 'drafts', 'office@larkspur.example', 'Please find our offer 1251 below.', NULL, 0),
    (3577, 1180, 'drafts', 'office@larkspur.example', 'We would like to place order 3148.', NULL, 0),
    (3580, 1181, 'drafts', 'office@larkspur.example', 'Please find our offer 2377 below.', NULL, 0),
    (3583, 1182, 'drafts', 'office@larkspur.example', 'We would like to place order 4090.', NULL, 0),
    (3586, 1183, 'drafts', 'office@larkspur.example', 'Please find our offer 7811 below.', NULL, 0),
    (3589, 1184, 'drafts', 'office@larkspur.example', 'We would like to place order 1826.', NULL, 0),
    (3592, 1185, 'drafts', 'office@larkspur.example', 'Please find our offer 8659 below.', NULL, 0),
    (3595, 1186, 'drafts', 'office@larkspur.example', 'We would like to place order 6122.', NULL, 0),
    (3598, 1187, 'drafts', 'office@larkspur.example', 'Please find our offer 6350 below.', NULL, 0),
    (3601, 1188, 'drafts', 'office@larkspur.example', 'We would like to place order 9113.', NULL, 0),
    (3604, 1189, 'drafts', 'office@larkspur.example', 'Please find our offer 1647 below.', NULL, 0),
    (3607, 1190, 'drafts', 'office@larkspur.example', 'We would like to place order 1011.', NULL, 0),
    (3610, 1191, 'drafts', 'office@larkspur.example', 'Please find our offer 8993 below.', NULL, 0),
    (3613, 1192, 'drafts', 'office@larkspur.example', 'We would like to place order 9653.', NULL, 0),
    (3616, 1193, 'drafts', 'office@larkspur.example', 'Please find our offer 8323 below.', NULL, 0),
    (3619, 1194, 'drafts', 'office@larkspur.example', 'We would like to place order 3593.', NULL, 0),
    (3622, 1195, 'drafts', 'office@larkspur.example', 'Please find our offer 5257 below.', NULL, 0),
    (3625, 1196, 'drafts', 'office@larkspur.example', 'We would like to place order 2056.', NULL, 0),
    (3628, 1197, 'drafts', 'office@larkspur.example', 'Please find our offer 8306 below.', NULL, 0),
    (3631, 1198, 'drafts', 'office@larkspur.example', 'We would like to place order 3724.', NULL, 0);

INSERT INTO recipients (mail_id, email, kind) VALUES
    (3001, 'office@larkspur.example', 'to'),
    (3004, 'office@larkspur.example', 'to'),
    (3007, 'office@larkspur.example', 'to'),
    (3010, 'office@larkspur.example', 'to'),
    (3013, 'office@larkspur.example', 'to'),
    (3016, 'office@larkspur.example', 'to'),
    (3019, 'office@larkspur.example', 'to'),
    (3022, 'office@larkspur.example', 'to'),
    (3025, 'office@larkspur.example', 'to'),
    (3028, 'office@larkspur.example', 'to'),
    (3031, 'office@larkspur.example', 'to'),
    (3034, 'office@larkspur.example', 'to'),
    (3037, 'bent.lundmark@harrowgate-paper.example', 'cc'),
    (3037, 'ivo.fenner@redcliff-packaging.example', 'cc'),
    (3037, 'office@larkspur.example', 'to'),
    (3040, 'office@larkspur.example', 'to'),
    (3043, 'office@larkspur.example', 'to'),
    (3046, 'suna.falkner@penhallow-print.example', 'to'),
    (3049, 'office@larkspur.example', 'to'),
    (3052, 'office@larkspur.example', 'to'),
    (3055, 'office@larkspur.example', 'to'),
    (3058, 'office@larkspur.example', 'to'),
    (3061, 'office@larkspur.example', 'to'),
    (3064, 'office@larkspur.example', 'to'),
    (3067, 'office@larkspur.example', 'to'),
    (3070, 'office@larkspur.example', 'to'),
    (3073, 'office@larkspur.example', 'to'),
    (3076, 'office@larkspur.example', 'to'),
    (3079, 'office@larkspur.example', 'to'),
    (3082, 'office@larkspur.example', 'to'),
    (3085, 'malik.brandvik@ashcombe-logistics.example', 'to'),
    (3088, 'office@larkspur.example', 'to'),
    (3091, 'office@larkspur.example', 'to'),
    (3094, 'office@larkspur.example', 'to'),
    (3097, 'office@larkspur.example', 'to'),
    (3100, 'office@larkspur.example', 'to'),
    (3103, 'bent.lundmark@harrowgate-paper.example', 'cc'),
    (3103, 'noor.stavik@fairlight-hardware.example', 'cc'),
    (3103, 'office@larkspur.example', 'to'),
    (3106, 'office@larkspur.example', 'to'),
    (3109, 'office@larkspur.example', 'to'),
    (3112, 'office@larkspur.example', 'to'),
    (3115, 'office@larkspur.example', 'to'),
    (3118, 'office@larkspur.example', 'to'),
    (3121, 'office@larkspur.example', 'to'),
    (3124, 'rune.brandvik@stonebridge-logistics.example', 'cc'),
    (3124, 'ylva.dahlberg@ashcombe-logistics.example', 'cc'),
    (3124, 'office@larkspur.example', 'to'),
    (3127, 'office@larkspur.example', 'to'),
    (3130, 'office@larkspur.example', 'to'),
    (3133, 'dov.brandvik@ashcombe-optics.example', 'cc'),
    (3133, 'suna.falkner@penhallow-print.example', 'cc'),
    (3133, 'office@larkspur.example', 'to'),
    (3136, 'office@larkspur.example', 'to'),
    (3139, 'office@larkspur.example', 'to'),
    (3142, 'dov.brandvik@ashcombe-optics.example', 'cc'),
    (3142, 'malik.yarborough@ashcombe-logistics.example', 'cc'),
    (3142, 'office@larkspur.example', 'to'),
    (3145, 'office@larkspur.example', 'to'),
    (3148, 'office@larkspur.example', 'to'),
    (3151, 'freja.pellworm@silverdale-mills.example', 'cc'),
    (3151, 'nils.stavik@harrowgate-paper.example', 'cc'),
    (3151, 'office@larkspur.example', 'to'),
    (3154, 'office@larkspur.example', 'to'),
    (3157, 'office@larkspur.example', 'to'),
    (3160, 'freja.pellworm@silverdale-mills.example', 'to'),
    (3163, 'office@larkspur.example', 'to'),
    (3166, 'office@larkspur.example', 'to'),
    (3169, 'finn.lindgaard@stonebridge-logistics.example', 'to'),
    (3172, 'office@larkspur.example', 'to'),
    (3175, 'office@larkspur.example', 'to'),
    (3178, 'freja.pellworm@silverdale-mills.example', 'cc'),
    (3178, 'jelka.norling@windrush-leather.example', 'cc'),
    (3178, 'office@larkspur.example', 'to'),
    (3181, 'office@larkspur.example', 'to'),
    (3184, 'office@larkspur.example', 'to'),
    (3187, 'office@larkspur.example', 'to'),
    (3190, 'office@larkspur.example', 'to'),
    (3193, 'lotte.rosendal@penhallow-print.example', 'cc'),
    (3193, 'rune.brandvik@stonebridge-logistics.example', 'cc'),
    (3193, 'office@larkspur.example', 'to'),
    (3196, 'ida.yarborough@harrowgate-paper.example', 'cc'),
    (3196, 'suna.norling@ashcombe-optics.example', 'cc'),
    (3196, 'office@larkspur.example', 'to'),
    (3199, 'office@larkspur.example', 'to'),
    (3202, 'hedda.nybakk@stonebridge-logistics.example', 'cc'),
    (3202, 'jelka.norling@windrush-leather.example', 'cc'),
    (3202, 'office@larkspur.example', 'to'),
    (3205, 'office@larkspur.example', 'to'),
    (3208, 'bent.lundmark@harrowgate-paper.example', 'cc'),
    (3208, 'suna.falkner@penhallow-print.example', 'cc'),
    (3208, 'office@larkspur.example', 'to'),
    (3211, 'office@larkspur.example', 'to'),
    (3214, 'office@larkspur.example', 'to'),
    (3217, 'office@larkspur.example', 'to'),
    (3220, 'office@larkspur.example', 'to'),
    (3223, 'office@larkspur.example', 'to'),
    (3226, 'office@larkspur.example', 'to'),
    (3229, 'otis.rosendal@penhallow-print.example', 'cc'),
    (3229, 'office@larkspur.example', 'to'),
    (3232, 'office@larkspur.example', 'to'),
    (3235, 'office@larkspur.example', 'to'),
    (3238, 'office@larkspur.example', 'to'),
    (3241, 'office@larkspur.example', 'to'),
    (3244, 'office@larkspur.example', 'to'),
    (3247, 'office@larkspur.example', 'to'),
    (3250, 'office@larkspur.example', 'to'),
    (3253, 'office@larkspur.example', 'to'),
    (3256, 'freja.pellworm@silverdale-mills.example', 'cc'),
    (3256, 'tove.holloway@silverdale-mills.example', 'cc'),
    (3256, 'office@larkspur.example', 'to'),
    (3259, 'office@larkspur.example', 'to'),
    (3262, 'office@larkspur.example', 'to'),
    (3265, 'office@larkspur.example', 'to'),
    (3268, 'office@larkspur.example', 'to'),
    (3271, 'hedda.nybakk@stonebridge-logistics.example', 'cc'),
    (3271, 'suna.falkner@penhallow-print.example', 'cc'),
    (3271, 'office@larkspur.example', 'to'),
    (3274, 'office@larkspur.example', 'to'),
    (3277, 'office@larkspur.example', 'to'),
    (3280, 'office@larkspur.example', 'to'),
    (3283, 'office@larkspur.example', 'to'),
    (3286, 'office@larkspur.example', 'to'),
    (3289, 'office@larkspur.example', 'to'),
    (3292, 'office@larkspur.example', 'to'),
    (3295, 'office@larkspur.example', 'to'),
    (3298, 'office@larkspur.example', 'to'),
    (3301, 'office@larkspur.example', 'to'),
    (3304, 'dov.overbeck@fairlight-hardware.example', 'to'),
    (3307, 'office@larkspur.example', 'to'),
    (3310, 'office@larkspur.example', 'to'),
    (3313, 'freja.pellworm@silverdale-mills.example', 'cc'),
    (3313, 'malik.brandvik@ashcombe-logistics.example', 'cc'),
    (3313, 'office@larkspur.example', 'to'),
    (3316, 'bent.lundmark@harrowgate-paper.example', 'cc'),
    (3316, 'dov.brandvik@ashcombe-optics.example', 'cc'),
    (3316, 'office@larkspur.example', 'to'),
    (3319, 'nils.hartwig@redcliff-packaging.example', 'to'),
    (3322, 'freja.pellworm@silverdale-mills.example', 'cc'),
    (3322, 'ylva.dahlberg@ashcombe-logistics.example', 'cc'),
    (3322, 'office@larkspur.example', 'to'),
    (3325, 'corin.thornby@windrush-leather.example', 'cc'),
    (3325, 'nils.stavik@harrowgate-paper.example', 'cc'),
    (3325, 'office@larkspur.example', 'to'),
    (3328, 'office@larkspur.example', 'to'),
    (3331, 'office@larkspur.example', 'to'),
    (3334, 'office@larkspur.example', 'to'),
    (3337, 'office@larkspur.example', 'to'),
    (3340, 'office@larkspur.example', 'to'),
    (3343, 'freja.pellworm@stonebridge-logistics.example', 'to'),
    (3346, 'office@larkspur.example', 'to'),
    (3349, 'office@larkspur.example', 'to'),
    (3352, 'office@larkspur.example', 'to'),
    (3355, 'office@larkspur.example', 'to'),
    (3358, 'office@larkspur.example', 'to'),
    (3361, 'office@larkspur.example', 'to'),
    (3364, 'office@larkspur.example', 'to'),
    (3367, 'office@larkspur.example', 'to'),
    (3370, 'office@larkspur.example', 'to'),
    (3373, 'office@larkspur.example', 'to'),
    (3376, 'office@larkspur.example', 'to'),
    (3379, 'office@larkspur.example', 'to'),
    (3382, 'office@larkspur.example', 'to'),
    (3385, 'office@larkspur.example', 'to'),
    (3388, 'office@larkspur.example', 'to'),
    (3391, 'office@larkspur.example', 'to'),
    (3394, 'noor.stavik@fairlight-hardware.example', 'cc'),
    (3394, 'office@larkspur.example', 'to'),
    (3397, 'office@larkspur.example', 'to'),
    (3400, 'office@larkspur.example', 'to'),
    (3403, 'office@larkspur.example', 'to'),
    (3406, 'office@larkspur.example', 'to'),
    (3409, 'nils.stavik@harrowgate-paper.example', 'cc'),
    (3409, 'otis.rosendal@penhallow-print.example', 'cc'),
    (3409, 'office@larkspur.example', 'to'),
    (3412, 'office@larkspur.example', 'to'),
    (3415, 'office@larkspur.example', 'to'),
    (3418, 'suna.norling@ashcombe-optics.example', 'to'),
    (3421, 'office@larkspur.example', 'to'),
    (3424, 'office@larkspur.example', 'to'),
    (3427, 'office@larkspur.example', 'to'),
    (3430, 'bent.lundmark@harrowgate-paper.example', 'cc'),
    (3430, 'corin.thornby@windrush-leather.example', 'cc'),
    (3430, 'office@larkspur.example', 'to'),
    (3433, 'office@larkspur.example', 'to'),
    (3436, 'office@larkspur.example', 'to'),
    (3439, 'office@larkspur.example', 'to'),
    (3442, 'office@larkspur.example', 'to'),
    (3445, 'office@larkspur.example', 'to'),
    (3448, 'office@larkspur.example', 'to'),
    (3451, 'office@larkspur.example', 'to'),
    (3454, 'malik.yarborough@ashcombe-logistics.example', 'to'),
    (3457, 'office@larkspur.example', 'to'),
    (3460, 'office@larkspur.example', 'to'),
    (3463, 'dov.overbeck@fairlight-hardware.example', 'cc'),
    (3463, 'tove.holloway@silverdale-mills.example', 'cc'),
    (3463, 'office@larkspur.example', 'to'),
    (3466, 'office@larkspur.example', 'to'),
    (3469, 'hedda.nybakk@stonebridge-logistics.example', 'to'),
    (3472, 'office@larkspur.example', 'to'),
    (3475, 'corin.thornby@windrush-leather.example', 'to'),
    (3478, 'office@larkspur.example', 'to'),
    (3481, 'office@larkspur.example', 'to'),
    (3484, 'office@larkspur.example', 'to'),
    (3487, 'office@larkspur.example', 'to'),
    (3490, 'office@larkspur.example', 'to'),
    (3493, 'tove.holloway@silverdale-mills.example', 'to'),
    (3496, 'office@larkspur.example', 'to'),
    (3499, 'office@larkspur.example', 'to'),
    (3502, 'office@larkspur.example', 'to'),
    (3505, 'malik.yarborough@ashcombe-logistics.example', 'cc'),
    (3505, 'nils.hartwig@redcliff-packaging.example', 'cc'),
    (3505, 'office@larkspur.example', 'to'),
    (3508, 'office@larkspur.example', 'to'),
    (3511, 'office@larkspur.example', 'to'),
    (3514, 'corin.thornby@windrush-leather.example', 'cc'),
    (3514, 'malik.yarborough@ashcombe-logistics.example', 'cc'),
    (3514, 'office@larkspur.example', 'to'),
    (3517, 'office@larkspur.example', 'to'),
    (3520, 'malik.yarborough@ashcombe-logistics.example', 'cc'),
    (3520, 'suna.falkner@penhallow-print.example', 'cc'),
    (3520, 'office@larkspur.example', 'to'),
    (3523, 'office@larkspur.example', 'to'),
    (3526, 'office@larkspur.example', 'to'),
    (3529, 'office@larkspur.example', 'to'),
    (3532, 'office@larkspur.example', 'to'),
    (3535, 'office@larkspur.example', 'to'),
    (3538, 'office@larkspur.example', 'to'),
    (3541, 'tove.holloway@silverdale-mills.example', 'cc'),
    (3541, 'office@larkspur.example', 'to'),
    (3544, 'office@larkspur.example', 'to'),
    (3547, 'office@larkspur.example', 'to'),
    (3550, 'bent.lundmark@harrowgate-paper.example', 'to'),
    (3553, 'office@larkspur.example', 'to'),
    (3556, 'office@larkspur.example', 'to'),
    (3559, 'malik.brandvik@ashcombe-logistics.example', 'cc'),
    (3559, 'noor.stavik@fairlight-hardware.example', 'cc'),
    (3559, 'office@larkspur.example', 'to'),
    (3562, 'nils.stavik@harrowgate-paper.example', 'to'),
    (3565, 'freja.pellworm@silverdale-mills.example', 'to'),
    (3568, 'jelka.norling@windrush-leather.example', 'to'),
    (3571, 'malik.yarborough@ashcombe-logistics.example', 'to'),
    (3574, 'otis.rosendal@penhallow-print.example', 'to'),
    (3577, 'finn.lindgaard@stonebridge-logistics.example', 'to'),
    (3580, 'noor.stavik@fairlight-hardware.example', 'to'),
    (3583, 'suna.norling@ashcombe-optics.example', 'to'),
    (3586, 'ivo.fenner@redcliff-packaging.example', 'to'),
    (3589, 'bent.lundmark@harrowgate-paper.example', 'to'),
    (3592, 'cilla.norling@silverdale-mills.example', 'to'),
    (3595, 'corin.thornby@windrush-leather.example', 'to'),
    (3598, 'ylva.dahlberg@ashcombe-logistics.example', 'to'),
    (3601, 'suna.falkner@penhallow-print.example', 'to'),
    (3604, 'rune.brandvik@stonebridge-logistics.example', 'to'),
    (3607, 'dov.overbeck@fairlight-hardware.example', 'to'),
    (3610, 'dov.brandvik@ashcombe-optics.example', 'to'),
    (3613, 'nils.hartwig@redcliff-packaging.example', 'to'),
    (3616, 'ida.yarborough@harrowgate-paper.example', 'to'),
    (3619, 'tove.holloway@silverdale-mills.example', 'to'),
    (3622, 'noor.lindgaard@windrush-leather.example', 'to'),
    (3625, 'malik.brandvik@ashcombe-logistics.example', 'to'),
    (3628, 'lotte.rosendal@penhallow-print.example', 'to'),
    (3631, 'hedda.nybakk@stonebridge-logistics.example', 'to');

INSERT INTO mail_labels (mail_id, label) VALUES
    (3043, 'answered'),
    (3067, 'invoice'),
    (3067, 'hold'),
    (3070, 'invoice'),
    (3070, 'hold'),
    (3073, 'invoice'),
    (3073, 'hold'),
    (3079, 'answered'),
    (3082, 'invoice'),
    (3082, 'hold'),
    (3115, 'invoice'),
    (3115, 'hold'),
    (3121, 'invoice'),
    (3121, 'hold'),
    (3154, 'invoice'),
    (3154, 'hold'),
    (3157, 'answered'),
    (3163, 'answered'),
    (3205, 'invoice'),
    (3205, 'hold'),
    (3217, 'invoice'),
    (3217, 'hold'),
    (3253, 'invoice'),
    (3253, 'hold'),
    (3274, 'invoice'),
    (3274, 'hold'),
    (3289, 'invoice'),
    (3289, 'hold'),
    (3295, 'answered'),
    (3310, 'answered'),
    (3340, 'answered'),
    (3352, 'invoice'),
    (3352, 'hold'),
    (3355, 'invoice'),
    (3355, 'hold'),
    (3364, 'invoice'),
    (3364, 'hold'),
    (3379, 'invoice'),
    (3379, 'hold'),
    (3400, 'invoice'),
    (3400, 'hold'),
    (3412, 'answered'),
    (3433, 'invoice'),
    (3433, 'hold'),
    (3451, 'answered'),
    (3466, 'answered'),
    (3472, 'answered'),
    (3490, 'answered'),
    (3544, 'answered'),
    (3547, 'invoice'),
    (3547, 'hold'),
    (3553, 'invoice'),
    (3553, 'hold'),
    (3568, 'hold'),
    (3577, 'hold'),
    (3586, 'hold'),
    (3595, 'hold'),
    (3604, 'hold'),
    (3613, 'hold'),
    (3622, 'hold'),
    (3631, 'hold');
