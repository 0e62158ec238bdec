--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: bicycles; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bicycles (
    bicycle_id integer NOT NULL,
    customer_id integer NOT NULL,
    frame_code text NOT NULL,
    model text NOT NULL,
    color text NOT NULL
);


--
-- Name: customers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.customers (
    customer_id integer NOT NULL,
    full_name text NOT NULL,
    email text NOT NULL,
    phone text,
    born_on date,
    city text NOT NULL
);


--
-- Name: repairs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repairs (
    repair_id integer NOT NULL,
    bicycle_id integer NOT NULL,
    status text NOT NULL,
    price numeric(8,2) NOT NULL,
    received_on date NOT NULL,
    note text,
    CONSTRAINT repairs_price_check CHECK ((price >= (0)::numeric)),
    CONSTRAINT repairs_status_check CHECK ((status = ANY (ARRAY['open'::text, 'waiting'::text, 'done'::text, 'cancelled'::text])))
);


--
-- Data for Name: bicycles; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bicycles VALUES
	(1, 37, 'FR-1037', 'Cargo', 'black'),
	(2, 33, 'FR-1074', 'Cargo', 'black'),
	(3, 16, 'FR-1111', 'Race', 'blue'),
	(4, 28, 'FR-1148', 'Tour', 'red'),
	(5, 39, 'FR-1185', 'Race', 'black'),
	(6, 15, 'FR-1222', 'City', 'blue'),
	(7, 6, 'FR-1259', 'Race', 'blue'),
	(8, 37, 'FR-1296', 'City', 'black'),
	(9, 15, 'FR-1333', 'Tour', 'red'),
	(10, 34, 'FR-1370', 'Cargo', 'black'),
	(11, 37, 'FR-1407', 'Cargo', 'black'),
	(12, 22, 'FR-1444', 'Tour', 'black'),
	(13, 38, 'FR-1481', 'Cargo', 'green'),
	(14, 19, 'FR-1518', 'Race', 'green'),
	(15, 23, 'FR-1555', 'City', 'black'),
	(16, 27, 'FR-1592', 'City', 'red'),
	(17, 27, 'FR-1629', 'Cargo', 'blue'),
	(18, 1, 'FR-1666', 'City', 'green'),
	(19, 36, 'FR-1703', 'Cargo', 'red'),
	(20, 30, 'FR-1740', 'Race', 'black');
INSERT INTO public.bicycles VALUES
	(21, 15, 'FR-1777', 'Tour', 'black'),
	(22, 8, 'FR-1814', 'Cargo', 'red'),
	(23, 3, 'FR-1851', 'Cargo', 'green'),
	(24, 37, 'FR-1888', 'Tour', 'red'),
	(25, 31, 'FR-1925', 'Tour', 'blue'),
	(26, 33, 'FR-1962', 'Race', 'blue'),
	(27, 2, 'FR-1999', 'City', 'red'),
	(28, 40, 'FR-2036', 'Tour', 'black'),
	(29, 9, 'FR-2073', 'Race', 'green'),
	(30, 4, 'FR-2110', 'Race', 'blue'),
	(31, 13, 'FR-2147', 'Tour', 'red'),
	(32, 11, 'FR-2184', 'Cargo', 'black'),
	(33, 9, 'FR-2221', 'Tour', 'green'),
	(34, 37, 'FR-2258', 'City', 'red'),
	(35, 18, 'FR-2295', 'Cargo', 'black'),
	(36, 40, 'FR-2332', 'City', 'red'),
	(37, 31, 'FR-2369', 'Race', 'red'),
	(38, 4, 'FR-2406', 'Cargo', 'red'),
	(39, 8, 'FR-2443', 'Tour', 'red'),
	(40, 31, 'FR-2480', 'Tour', 'red');
INSERT INTO public.bicycles VALUES
	(41, 33, 'FR-2517', 'City', 'black'),
	(42, 11, 'FR-2554', 'Race', 'red'),
	(43, 23, 'FR-2591', 'City', 'green'),
	(44, 38, 'FR-2628', 'Race', 'black'),
	(45, 17, 'FR-2665', 'Cargo', 'black'),
	(46, 28, 'FR-2702', 'Tour', 'blue'),
	(47, 36, 'FR-2739', 'Tour', 'green'),
	(48, 6, 'FR-2776', 'Cargo', 'red'),
	(49, 24, 'FR-2813', 'City', 'green'),
	(50, 3, 'FR-2850', 'City', 'red'),
	(51, 24, 'FR-2887', 'City', 'black'),
	(52, 27, 'FR-2924', 'City', 'green'),
	(53, 2, 'FR-2961', 'Cargo', 'blue'),
	(54, 35, 'FR-2998', 'Race', 'red'),
	(55, 28, 'FR-3035', 'Cargo', 'green'),
	(56, 9, 'FR-3072', 'Tour', 'black'),
	(57, 24, 'FR-3109', 'Race', 'red'),
	(58, 30, 'FR-3146', 'Tour', 'green'),
	(59, 7, 'FR-3183', 'Race', 'red'),
	(60, 38, 'FR-3220', 'Tour', 'green');


--
-- Data for Name: customers; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.customers VALUES
	(1, 'Hugo Dietz', 'hugo.dietz1@mail.example', '+49 30 4992383', '1992-09-05', 'Bremen'),
	(2, 'Otto Gruber', 'otto.gruber2@mail.example', '+49 30 8953298', '1995-10-03', 'Kiel'),
	(3, 'Ben Jansen', 'ben.jansen3@mail.example', '+49 30 1220922', '1985-05-18', 'Berlin'),
	(4, 'Iris Moser', 'iris.moser4@mail.example', '+49 30 4216932', '2000-08-18', 'Kiel'),
	(5, 'Pia Petit', 'pia.petit5@mail.example', '+49 30 8991880', '1980-11-28', 'Berlin'),
	(6, 'Cleo Toth', 'cleo.toth6@mail.example', '+49 30 4891005', '1995-03-28', 'Kiel'),
	(7, 'Jan Brandt', 'jan.brandt7@mail.example', '+49 30 7542052', '2002-01-22', 'Berlin'),
	(8, 'Quin Engel', 'quin.engel8@mail.example', '+49 30 3674287', '2003-10-02', 'Bremen'),
	(9, 'Dan Hahn', 'dan.hahn9@mail.example', '+49 30 1520290', '1972-08-20', 'Kiel'),
	(10, 'Kira Kaya', 'kira.kaya10@mail.example', '+49 30 7502992', '2000-07-13', 'Kiel'),
	(11, 'Rosa Novak', 'rosa.novak11@mail.example', '+49 30 8459503', '1963-06-04', 'Berlin'),
	(12, 'Eva Reyes', 'eva.reyes12@mail.example', '+49 30 3281178', '1986-04-09', 'Kiel'),
	(13, 'Leo Ulrich', 'leo.ulrich13@mail.example', '+49 30 8317581', '1995-05-14', 'Kiel'),
	(14, 'Sven Costa', 'sven.costa14@mail.example', '+49 30 7473761', '1991-06-18', 'Kiel'),
	(15, 'Finn Faro', 'finn.faro15@mail.example', '+49 30 7837988', '1992-04-11', 'Kiel'),
	(16, 'Mina Ito', 'mina.ito16@mail.example', '+49 30 1480841', '1972-10-22', 'Kiel'),
	(17, 'Tara Lind', 'tara.lind17@mail.example', '+49 30 3736357', '1999-06-18', 'Kiel'),
	(18, 'Gita Ochoa', 'gita.ochoa18@mail.example', '+49 30 2746102', '2000-11-07', 'Kiel'),
	(19, 'Noor Sato', 'noor.sato19@mail.example', '+49 30 5480941', '1973-02-03', 'Bremen'),
	(20, 'Ada Brandt', 'ada.brandt20@mail.example', '+49 30 9111930', '1960-06-26', 'Berlin');
INSERT INTO public.customers VALUES
	(21, 'Hugo Engel', 'hugo.engel21@mail.example', '+49 30 7886406', '1964-01-10', 'Bremen'),
	(22, 'Otto Hahn', 'otto.hahn22@mail.example', '+49 30 7965854', '1962-01-20', 'Kiel'),
	(23, 'Ben Kaya', 'ben.kaya23@mail.example', '+49 30 1753972', '1979-12-19', 'Bremen'),
	(24, 'Iris Novak', 'iris.novak24@mail.example', '+49 30 5682076', '1987-04-02', 'Bremen'),
	(25, 'Pia Reyes', 'pia.reyes25@mail.example', '+49 30 1121345', '1959-02-20', 'Kiel'),
	(26, 'Cleo Ulrich', 'cleo.ulrich26@mail.example', '+49 30 1526431', '1967-07-10', 'Kiel'),
	(27, 'Jan Costa', 'jan.costa27@mail.example', '+49 30 5418669', '1964-12-02', 'Bremen'),
	(28, 'Quin Faro', 'quin.faro28@mail.example', '+49 30 6265202', '1978-03-28', 'Bremen'),
	(29, 'Dan Ito', 'dan.ito29@mail.example', '+49 30 7320836', '1984-09-13', 'Kiel'),
	(30, 'Kira Lind', 'kira.lind30@mail.example', '+49 30 2720886', '1994-09-09', 'Bremen'),
	(31, 'Rosa Ochoa', 'rosa.ochoa31@mail.example', '+49 30 4986864', '1974-07-09', 'Kiel'),
	(32, 'Eva Sato', 'eva.sato32@mail.example', '+49 30 6083381', '1990-06-01', 'Bremen'),
	(33, 'Leo Abel', 'leo.abel33@mail.example', '+49 30 6282749', '1956-07-20', 'Kiel'),
	(34, 'Sven Dietz', 'sven.dietz34@mail.example', '+49 30 3235873', '1958-11-21', 'Bremen'),
	(35, 'Finn Gruber', 'finn.gruber35@mail.example', '+49 30 8822384', '1977-11-12', 'Kiel'),
	(36, 'Mina Jansen', 'mina.jansen36@mail.example', '+49 30 5679575', '2002-08-01', 'Kiel'),
	(37, 'Tara Moser', 'tara.moser37@mail.example', '+49 30 2016310', '1998-01-12', 'Bremen'),
	(38, 'Gita Petit', 'gita.petit38@mail.example', '+49 30 8655647', '1974-10-20', 'Bremen'),
	(39, 'Noor Toth', 'noor.toth39@mail.example', '+49 30 3976630', '1978-03-11', 'Bremen'),
	(40, 'Ada Costa', 'ada.costa40@mail.example', '+49 30 5431487', '1974-07-04', 'Berlin');


--
-- Data for Name: repairs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repairs VALUES
	(1, 10, 'open', 213.50, '2026-01-17', NULL),
	(2, 37, 'open', 183.50, '2026-02-27', NULL),
	(3, 22, 'open', 21.00, '2026-04-27', 'brakes'),
	(4, 38, 'waiting', 219.00, '2026-01-25', NULL),
	(5, 7, 'done', 206.00, '2026-05-02', 'brakes'),
	(6, 56, 'done', 61.00, '2026-02-06', NULL),
	(7, 30, 'done', 194.50, '2026-03-12', 'new chain'),
	(8, 23, 'done', 122.00, '2026-04-17', NULL),
	(9, 60, 'done', 230.90, '2026-02-14', 'new chain'),
	(10, 10, 'cancelled', 117.00, '2026-02-04', 'new chain'),
	(11, 48, 'done', 193.90, '2026-04-19', NULL),
	(12, 9, 'waiting', 207.00, '2026-02-19', 'brakes'),
	(13, 60, 'open', 232.90, '2026-05-25', 'brakes'),
	(14, 43, 'cancelled', 233.50, '2026-05-28', 'brakes'),
	(15, 57, 'open', 93.00, '2026-03-16', 'new chain'),
	(16, 13, 'open', 160.50, '2026-02-11', 'new chain'),
	(17, 50, 'open', 122.90, '2026-04-23', NULL),
	(18, 30, 'done', 228.90, '2026-05-01', 'new chain'),
	(19, 47, 'open', 234.50, '2026-01-15', NULL),
	(20, 58, 'open', 180.90, '2026-01-07', 'brakes');
INSERT INTO public.repairs VALUES
	(21, 16, 'open', 213.50, '2026-02-06', NULL),
	(22, 58, 'waiting', 58.00, '2026-03-06', 'new chain'),
	(23, 6, 'cancelled', 219.00, '2026-01-03', 'brakes'),
	(24, 54, 'waiting', 24.50, '2026-04-19', 'brakes'),
	(25, 1, 'open', 100.50, '2026-04-13', 'new chain'),
	(26, 5, 'open', 179.90, '2026-04-13', NULL),
	(27, 35, 'waiting', 45.50, '2026-01-22', 'new chain'),
	(28, 8, 'done', 150.50, '2026-01-17', 'brakes'),
	(29, 44, 'waiting', 208.50, '2026-03-22', 'brakes'),
	(30, 7, 'waiting', 187.90, '2026-05-17', NULL),
	(31, 43, 'done', 145.50, '2026-01-23', 'brakes'),
	(32, 44, 'cancelled', 159.90, '2026-02-21', NULL),
	(33, 12, 'waiting', 182.50, '2026-01-04', NULL),
	(34, 59, 'waiting', 180.90, '2026-05-14', 'brakes'),
	(35, 42, 'open', 132.50, '2026-03-26', NULL),
	(36, 46, 'open', 42.90, '2026-02-25', 'new chain'),
	(37, 23, 'open', 83.50, '2026-04-02', NULL),
	(38, 3, 'done', 144.50, '2026-02-23', 'brakes'),
	(39, 57, 'waiting', 118.50, '2026-05-26', NULL),
	(40, 23, 'done', 231.00, '2026-02-09', NULL);
INSERT INTO public.repairs VALUES
	(41, 44, 'open', 159.90, '2026-01-06', NULL),
	(42, 37, 'done', 186.90, '2026-04-27', NULL),
	(43, 38, 'done', 52.50, '2026-02-18', NULL),
	(44, 37, 'open', 66.50, '2026-03-26', 'brakes'),
	(45, 2, 'done', 119.50, '2026-03-18', 'brakes'),
	(46, 41, 'done', 150.90, '2026-03-28', 'new chain'),
	(47, 2, 'done', 63.90, '2026-01-04', NULL),
	(48, 32, 'open', 149.90, '2026-04-07', NULL),
	(49, 51, 'done', 69.00, '2026-05-21', 'new chain'),
	(50, 8, 'done', 87.90, '2026-02-05', 'new chain'),
	(51, 51, 'open', 174.00, '2026-01-12', NULL),
	(52, 33, 'open', 142.90, '2026-01-11', 'brakes'),
	(53, 22, 'waiting', 192.90, '2026-02-03', NULL),
	(54, 46, 'open', 204.50, '2026-02-03', NULL),
	(55, 28, 'cancelled', 208.00, '2026-04-11', NULL),
	(56, 51, 'open', 119.00, '2026-02-23', NULL),
	(57, 26, 'done', 136.90, '2026-01-18', 'new chain'),
	(58, 14, 'cancelled', 140.50, '2026-01-15', 'new chain'),
	(59, 49, 'cancelled', 117.50, '2026-02-15', NULL),
	(60, 47, 'waiting', 108.50, '2026-04-17', 'brakes');
INSERT INTO public.repairs VALUES
	(61, 39, 'done', 72.00, '2026-02-09', 'brakes'),
	(62, 10, 'done', 151.00, '2026-02-07', NULL),
	(63, 11, 'done', 118.90, '2026-02-21', NULL),
	(64, 9, 'open', 170.00, '2026-04-16', NULL),
	(65, 4, 'open', 118.50, '2026-03-14', NULL),
	(66, 46, 'cancelled', 28.00, '2026-04-02', 'new chain'),
	(67, 32, 'open', 71.00, '2026-01-13', 'new chain'),
	(68, 13, 'open', 100.90, '2026-01-12', NULL),
	(69, 39, 'open', 221.90, '2026-03-09', 'new chain'),
	(70, 51, 'waiting', 140.00, '2026-05-09', NULL),
	(71, 53, 'waiting', 176.50, '2026-03-03', NULL),
	(72, 44, 'done', 37.90, '2026-05-01', NULL),
	(73, 2, 'cancelled', 38.00, '2026-02-17', NULL),
	(74, 31, 'open', 63.90, '2026-05-11', NULL),
	(75, 58, 'done', 102.50, '2026-03-22', NULL),
	(76, 25, 'waiting', 207.90, '2026-04-03', 'brakes'),
	(77, 12, 'done', 44.90, '2026-04-18', 'brakes'),
	(78, 35, 'cancelled', 214.50, '2026-02-27', 'new chain'),
	(79, 54, 'done', 106.00, '2026-03-26', 'new chain'),
	(80, 29, 'open', 128.90, '2026-04-12', 'brakes');
INSERT INTO public.repairs VALUES
	(81, 53, 'open', 144.90, '2026-05-23', 'new chain'),
	(82, 32, 'open', 54.00, '2026-01-27', 'new chain'),
	(83, 6, 'cancelled', 188.90, '2026-01-11', NULL),
	(84, 39, 'cancelled', 29.90, '2026-01-15', 'new chain'),
	(85, 58, 'cancelled', 180.50, '2026-03-01', NULL),
	(86, 13, 'done', 216.00, '2026-03-19', 'brakes'),
	(87, 8, 'done', 35.90, '2026-02-08', NULL),
	(88, 10, 'cancelled', 51.90, '2026-01-04', NULL),
	(89, 19, 'open', 71.90, '2026-05-14', 'brakes'),
	(90, 51, 'done', 215.00, '2026-04-06', NULL),
	(91, 3, 'open', 168.00, '2026-01-07', 'brakes'),
	(92, 6, 'open', 134.50, '2026-02-27', NULL),
	(93, 42, 'done', 209.90, '2026-03-13', 'new chain'),
	(94, 50, 'open', 89.90, '2026-04-27', 'new chain'),
	(95, 14, 'open', 153.00, '2026-04-10', NULL),
	(96, 22, 'waiting', 64.50, '2026-01-18', 'brakes'),
	(97, 28, 'cancelled', 32.90, '2026-05-07', NULL),
	(98, 23, 'open', 100.00, '2026-04-15', NULL),
	(99, 17, 'open', 97.00, '2026-02-24', NULL),
	(100, 56, 'cancelled', 171.50, '2026-05-28', 'new chain');
INSERT INTO public.repairs VALUES
	(101, 24, 'open', 174.50, '2026-04-25', 'new chain'),
	(102, 31, 'done', 23.50, '2026-01-06', NULL),
	(103, 2, 'cancelled', 53.50, '2026-05-17', NULL),
	(104, 41, 'done', 25.00, '2026-02-09', 'new chain'),
	(105, 28, 'open', 103.50, '2026-02-24', 'brakes'),
	(106, 10, 'open', 128.50, '2026-04-15', NULL),
	(107, 14, 'open', 139.90, '2026-03-13', 'brakes'),
	(108, 11, 'done', 94.50, '2026-04-17', NULL),
	(109, 24, 'waiting', 88.00, '2026-04-12', 'brakes'),
	(110, 52, 'waiting', 206.00, '2026-05-01', NULL),
	(111, 9, 'cancelled', 150.00, '2026-05-01', NULL),
	(112, 4, 'open', 67.50, '2026-03-26', 'brakes'),
	(113, 36, 'open', 140.00, '2026-02-01', 'brakes'),
	(114, 28, 'waiting', 228.00, '2026-05-18', NULL),
	(115, 29, 'waiting', 82.00, '2026-04-14', 'brakes'),
	(116, 22, 'open', 22.50, '2026-01-21', NULL),
	(117, 59, 'done', 78.00, '2026-04-17', 'brakes'),
	(118, 36, 'open', 86.00, '2026-02-02', NULL),
	(119, 32, 'cancelled', 30.50, '2026-04-17', 'new chain'),
	(120, 24, 'done', 176.00, '2026-03-06', NULL);


--
-- Name: bicycles bicycles_frame_code_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bicycles
    ADD CONSTRAINT bicycles_frame_code_key UNIQUE (frame_code);


--
-- Name: bicycles bicycles_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bicycles
    ADD CONSTRAINT bicycles_pkey PRIMARY KEY (bicycle_id);


--
-- Name: customers customers_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_email_key UNIQUE (email);


--
-- Name: customers customers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (customer_id);


--
-- Name: repairs repairs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repairs
    ADD CONSTRAINT repairs_pkey PRIMARY KEY (repair_id);


--
-- Name: bicycles bicycles_customer_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bicycles
    ADD CONSTRAINT bicycles_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customers(customer_id);


--
-- Name: repairs repairs_bicycle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repairs
    ADD CONSTRAINT repairs_bicycle_id_fkey FOREIGN KEY (bicycle_id) REFERENCES public.bicycles(bicycle_id);


--
-- PostgreSQL database dump complete
--


