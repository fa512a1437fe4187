-- The store of noisypairs 0.2.0 (version 1): 3 people, 6 answers, one undone, one skipped.
PRAGMA application_id = 1852854369;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE answers (
    answer INTEGER PRIMARY KEY,
    question INTEGER NOT NULL UNIQUE REFERENCES questions,
    person INTEGER NOT NULL REFERENCES people,
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    said TEXT NOT NULL CHECK (said IN ('same', 'different', 'unsure', 'skip')),
    answered_at TEXT NOT NULL,
    seconds REAL NOT NULL,
    model_shown INTEGER NOT NULL,
    undone_at TEXT
);
INSERT INTO "answers" VALUES(1,1,1,6,7,'same','2026-11-18T20:21:54.953+00:00',1.0,0,'2026-11-18T20:21:54.953+00:00');
INSERT INTO "answers" VALUES(2,2,1,7,8,'different','2026-11-18T20:21:54.953+00:00',1.0,0,NULL);
INSERT INTO "answers" VALUES(3,3,1,9,12,'skip','2026-11-18T20:21:54.953+00:00',1.0,0,NULL);
INSERT INTO "answers" VALUES(4,4,1,9,11,'unsure','2026-11-18T20:21:54.953+00:00',1.0,0,NULL);
INSERT INTO "answers" VALUES(5,5,2,11,12,'same','2026-11-18T20:21:54.953+00:00',1.0,0,NULL);
INSERT INTO "answers" VALUES(6,6,2,6,9,'different','2026-11-18T20:21:54.953+00:00',1.0,0,NULL);
CREATE TABLE fits (
    fit INTEGER PRIMARY KEY,
    finished_at TEXT NOT NULL,
    n_answers INTEGER NOT NULL,
    progress TEXT NOT NULL,
    people TEXT NOT NULL
);
INSERT INTO "fits" VALUES(1,'2026-11-18T20:21:54.953+00:00',5,'{"target": 0.95, "state": "learning", "accuracy": null, "level": 0.9, "left": null, "n_classes": null, "n_answers": 0, "note": "few"}','[]');
CREATE TABLE items (item INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
INSERT INTO "items" VALUES(1,'i00');
INSERT INTO "items" VALUES(2,'i01');
INSERT INTO "items" VALUES(3,'i02');
INSERT INTO "items" VALUES(4,'i03');
INSERT INTO "items" VALUES(5,'i04');
INSERT INTO "items" VALUES(6,'i05');
INSERT INTO "items" VALUES(7,'i06');
INSERT INTO "items" VALUES(8,'i07');
INSERT INTO "items" VALUES(9,'i08');
INSERT INTO "items" VALUES(10,'i09');
INSERT INTO "items" VALUES(11,'i10');
INSERT INTO "items" VALUES(12,'i11');
CREATE TABLE people (
    person INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    token TEXT NOT NULL UNIQUE,
    joined_at TEXT NOT NULL
);
INSERT INTO "people" VALUES(1,'Élise','lApH27YRyBknZRx-pUHseA','2026-11-18T20:21:54.952+00:00');
INSERT INTO "people" VALUES(2,'élise','tzKzsvvrC742-4-j27GQnw','2026-11-18T20:21:54.952+00:00');
INSERT INTO "people" VALUES(3,'eve','lI6yVppHlosOquSx500tGQ','2026-11-18T20:21:54.952+00:00');
CREATE TABLE questions (
    question INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people,
    low INTEGER NOT NULL REFERENCES items,
    high INTEGER NOT NULL REFERENCES items,
    swapped INTEGER NOT NULL,
    kind TEXT NOT NULL,
    chance REAL,
    fit INTEGER,
    asked_at TEXT NOT NULL,
    open INTEGER NOT NULL DEFAULT 1,
    CHECK (low < high)
);
INSERT INTO "questions" VALUES(1,1,6,7,0,'random',NULL,NULL,'2026-11-18T20:21:54.953+00:00',0);
INSERT INTO "questions" VALUES(2,1,7,8,0,'random',NULL,NULL,'2026-11-18T20:21:54.953+00:00',0);
INSERT INTO "questions" VALUES(3,1,9,12,1,'random',NULL,NULL,'2026-11-18T20:21:54.953+00:00',0);
INSERT INTO "questions" VALUES(4,1,9,11,0,'random',NULL,NULL,'2026-11-18T20:21:54.953+00:00',0);
INSERT INTO "questions" VALUES(5,2,11,12,0,'random',NULL,NULL,'2026-11-18T20:21:54.953+00:00',0);
INSERT INTO "questions" VALUES(6,2,6,9,1,'random',NULL,NULL,'2026-11-18T20:21:54.953+00:00',0);
INSERT INTO "questions" VALUES(7,1,6,7,1,'random',NULL,NULL,'2026-11-18T20:21:54.953+00:00',1);
CREATE TABLE queue (
    place INTEGER PRIMARY KEY,
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    kind TEXT NOT NULL,
    chance REAL,
    fit INTEGER
);
INSERT INTO "queue" VALUES(1,1,2,'chosen',0.8,1);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "settings" VALUES('join token','-KQIgmviKe8W0833fqQhQA');
INSERT INTO "settings" VALUES('owner token','ou6LTydFn1WMPxSrl9HNBQ');
INSERT INTO "settings" VALUES('project token','mD62_rKjuDRWg_v9gm_n2w');
CREATE INDEX open_questions ON questions (person, question) WHERE open;
CREATE INDEX open_pairs ON questions (low, high) WHERE open;
CREATE INDEX standing_pairs ON answers (low, high, person, said) WHERE undone_at IS NULL;
CREATE INDEX standing_people ON answers (person, said) WHERE undone_at IS NULL;
CREATE VIEW answers_that_count AS
SELECT
    CASE swapped WHEN 1 THEN upper.id ELSE lower.id END AS "left",
    CASE swapped WHEN 1 THEN lower.id ELSE upper.id END AS "right",
    said AS answer, people.name AS annotator, answered_at, seconds,
    chance AS model_chance, model_shown, kind, kind <> 'random' AS chosen
FROM answers
JOIN questions USING (question)
JOIN people ON people.person = answers.person
JOIN items AS lower ON lower.item = answers.low
JOIN items AS upper ON upper.item = answers.high
WHERE undone_at IS NULL AND said <> 'skip'
ORDER BY answers.answer;
COMMIT;
