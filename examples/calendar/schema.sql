-- The calendars of a company's staff. Every engine takes this SQL: moments are text (YYYY-MM-DD HH:MM, the office's time),
-- truth values are 0 and 1, and *_folded holds a name in lower case, without accents and punctuation.

CREATE TABLE staff (
    staff_id    INTEGER PRIMARY KEY,
    name        VARCHAR(80)  NOT NULL,
    name_folded VARCHAR(80)  NOT NULL,
    email       VARCHAR(120) NOT NULL,
    CONSTRAINT staff_name_unique UNIQUE (name_folded),
    CONSTRAINT staff_email_unique UNIQUE (email)
);

CREATE TABLE rooms (
    room_id INTEGER PRIMARY KEY,
    name    VARCHAR(40) NOT NULL,
    seats   INTEGER     NOT NULL,
    CONSTRAINT rooms_name_unique UNIQUE (name),
    CONSTRAINT rooms_seats CHECK (seats > 0)
);

-- A fixed event was agreed with somebody outside. ends_at is starts_at and the minutes.
CREATE TABLE events (
    event_id     INTEGER PRIMARY KEY,
    title        VARCHAR(120) NOT NULL,
    organiser_id INTEGER      NOT NULL,
    room_id      INTEGER,
    starts_at    VARCHAR(16)  NOT NULL,
    ends_at      VARCHAR(16)  NOT NULL,
    minutes      INTEGER      NOT NULL,
    status       VARCHAR(9)   NOT NULL DEFAULT 'confirmed',
    fixed        INTEGER      NOT NULL DEFAULT 0,
    CONSTRAINT events_organiser FOREIGN KEY (organiser_id) REFERENCES staff (staff_id),
    CONSTRAINT events_room FOREIGN KEY (room_id) REFERENCES rooms (room_id),
    CONSTRAINT events_order CHECK (ends_at > starts_at AND minutes > 0),
    CONSTRAINT events_status CHECK (status IN ('confirmed', 'cancelled')),
    CONSTRAINT events_fixed CHECK (fixed IN (0, 1))
);

CREATE INDEX events_by_start ON events (starts_at);

-- Who takes part, the organiser included.
CREATE TABLE attendees (
    event_id INTEGER NOT NULL,
    staff_id INTEGER NOT NULL,
    PRIMARY KEY (event_id, staff_id),
    CONSTRAINT attendees_event FOREIGN KEY (event_id) REFERENCES events (event_id),
    CONSTRAINT attendees_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id)
);

CREATE INDEX attendees_by_staff ON attendees (staff_id);
