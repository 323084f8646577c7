-- Each run has a hash of what its record says, and remembers where it came from.

-- What was imported: a row for each file of each import.
CREATE TABLE origins (
  id       INTEGER PRIMARY KEY,           -- of this file only
  name     TEXT NOT NULL,                 -- of the file, as its user gave it
  sha256   TEXT NOT NULL,                 -- of the file
  imported TEXT NOT NULL,                 -- 2006-01-02T15:04:05.000000Z
  signer   TEXT NOT NULL,                 -- who signed the file; empty without a signature
  UNIQUE (name, sha256, imported)
) STRICT;

-- Null for runs that were recorded here.
ALTER TABLE runs ADD COLUMN origin INTEGER REFERENCES origins (id);
-- Runs of a lower rank are preferred: 0 for those recorded here, the number of the import for
-- others, and minus that number where the user prefers the imported ones.
ALTER TABLE runs ADD COLUMN rank INTEGER NOT NULL DEFAULT 0 CHECK ((origin IS NULL) = (rank = 0));
-- The uid of the run that this one supersedes; empty if none.
ALTER TABLE runs ADD COLUMN replaces TEXT NOT NULL DEFAULT '';
-- The fingerprint of the code that splits, scores and chooses; empty where unknown.
ALTER TABLE runs ADD COLUMN protocol_code TEXT NOT NULL DEFAULT '';
-- Hashes of the series, empty if there is none, and of the whole record; and whether that was made
-- when the run was recorded, or later, for a run of a schema before this one.
ALTER TABLE runs ADD COLUMN series_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN hashed TEXT NOT NULL DEFAULT 'migrated' CHECK (hashed IN ('recorded', 'migrated'));
ALTER TABLE runs ADD COLUMN record_hash TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_origin ON runs (origin) WHERE origin IS NOT NULL;
CREATE INDEX runs_replaces ON runs (replaces) WHERE replaces <> '';

UPDATE runs SET replaces = p.uid FROM (SELECT new, min(uid) AS uid FROM replaced GROUP BY new) p WHERE p.new = runs.uid;

-- The current run of a job: of the ok runs that were not superseded the one of the lowest rank, and
-- among these the earliest. The uid breaks a tie.
DROP VIEW results;
DROP VIEW finished;
DROP INDEX runs_ok;

-- A run can end out of memory.
ALTER TABLE runs RENAME COLUMN error TO old_error;
ALTER TABLE runs RENAME COLUMN status TO old_status;
ALTER TABLE runs ADD COLUMN status TEXT NOT NULL DEFAULT 'ok' CHECK (status IN ('ok', 'error', 'panic', 'timeout', 'out of memory', 'interrupted'));
ALTER TABLE runs ADD COLUMN error TEXT NOT NULL DEFAULT '' CHECK ((error = '') = (status = 'ok'));
UPDATE runs SET status = old_status, error = old_error;
ALTER TABLE runs DROP COLUMN old_error;
ALTER TABLE runs DROP COLUMN old_status;

CREATE INDEX runs_ok ON runs (job, rank, started, uid) WHERE status = 'ok';
CREATE VIEW finished (job, run) AS
  SELECT r.job, r.id FROM runs r
  WHERE r.id = (SELECT e.id FROM runs e
                WHERE e.job = r.job AND e.status = 'ok'
                  AND NOT EXISTS (SELECT 1 FROM replaced p WHERE p.uid = e.uid)
                ORDER BY e.rank, e.started, e.uid LIMIT 1);
CREATE VIEW results (dataset, method, pretext, eval, seed, metric, value, job_key, run_uid) AS
  SELECT j.dataset, j.method, j.pretext, j.eval, j.seed, m.name, m.value, j.key, r.uid
  FROM finished f
  JOIN jobs j ON j.id = f.job
  JOIN runs r ON r.id = f.run
  JOIN metrics m ON m.run = f.run;

-- The hashes of predictions, apart from the classes, which are long.
CREATE INDEX predictions_hashes ON predictions (run, sha256, truth);

-- The name that the set's own description gives it, empty without one; and how many zero samples
-- were left out.
ALTER TABLE datasets ADD COLUMN declared TEXT NOT NULL DEFAULT '';
ALTER TABLE datasets ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped >= 0);

-- Runs that were computed again here. A file that is imported brings none.
CREATE TABLE repetitions (
  id            INTEGER PRIMARY KEY,
  uid           TEXT NOT NULL REFERENCES runs (uid) ON DELETE CASCADE, -- of the run
  started       TEXT NOT NULL,                -- 2006-01-02T15:04:05.000000Z
  workers       INTEGER NOT NULL CHECK (workers > 0),
  env           TEXT NOT NULL REFERENCES envs (id),
  method_code   TEXT NOT NULL,
  pretext_code  TEXT NOT NULL,
  protocol_code TEXT NOT NULL,
  differs       TEXT NOT NULL,                -- in what; empty if every bit was the same
  record_hash   TEXT NOT NULL
) STRICT;
CREATE INDEX repetitions_uid ON repetitions (uid);
CREATE INDEX repetitions_env ON repetitions (env);
