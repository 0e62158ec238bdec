-- The office mailbox of a company. Every engine takes this SQL: moments are ISO 8601 text (YYYY-MM-DD HH:MM:SS, UTC),
-- truth values are 0 and 1, and *_folded holds a name in lower case, without accents and punctuation.

-- People who write to the office or are written to. Colleagues have addresses of the house.
CREATE TABLE contacts (
    contact_id  INTEGER PRIMARY KEY,
    name        VARCHAR(80)  NOT NULL,
    name_folded VARCHAR(80)  NOT NULL,
    email       VARCHAR(120) NOT NULL,
    company     VARCHAR(80)  NOT NULL,
    CONSTRAINT contacts_email_unique UNIQUE (email),
    CONSTRAINT contacts_email CHECK (email LIKE '%@%')
);

CREATE INDEX contacts_by_name ON contacts (name_folded);

CREATE TABLE threads (
    thread_id INTEGER PRIMARY KEY,
    subject   VARCHAR(120) NOT NULL
);

-- A draft has no sent_at. forwards is the mail that stands below the body.
CREATE TABLE mails (
    mail_id   INTEGER PRIMARY KEY,
    thread_id INTEGER       NOT NULL,
    folder    VARCHAR(8)    NOT NULL,
    sender    VARCHAR(120)  NOT NULL,
    body      VARCHAR(4000) NOT NULL,
    sent_at   VARCHAR(19),
    unread    INTEGER       NOT NULL DEFAULT 0,
    forwards  INTEGER,
    CONSTRAINT mails_thread FOREIGN KEY (thread_id) REFERENCES threads (thread_id),
    CONSTRAINT mails_forwards FOREIGN KEY (forwards) REFERENCES mails (mail_id),
    CONSTRAINT mails_folder CHECK (folder IN ('inbox', 'archive', 'sent', 'drafts')),
    CONSTRAINT mails_unread CHECK (unread IN (0, 1)),
    CONSTRAINT mails_sent CHECK ((folder = 'drafts' AND sent_at IS NULL) OR (folder <> 'drafts' AND sent_at IS NOT NULL))
);

CREATE INDEX mails_by_thread ON mails (thread_id);
CREATE INDEX mails_by_sender ON mails (sender);

CREATE TABLE recipients (
    mail_id INTEGER      NOT NULL,
    email   VARCHAR(120) NOT NULL,
    kind    VARCHAR(2)   NOT NULL,
    PRIMARY KEY (mail_id, email),
    CONSTRAINT recipients_mail FOREIGN KEY (mail_id) REFERENCES mails (mail_id),
    CONSTRAINT recipients_kind CHECK (kind IN ('to', 'cc'))
);

CREATE TABLE mail_labels (
    mail_id INTEGER     NOT NULL,
    label   VARCHAR(10) NOT NULL,
    PRIMARY KEY (mail_id, label),
    CONSTRAINT mail_labels_mail FOREIGN KEY (mail_id) REFERENCES mails (mail_id),
    CONSTRAINT mail_labels_label CHECK (label IN ('answered', 'hold', 'invoice', 'to_do'))
);
