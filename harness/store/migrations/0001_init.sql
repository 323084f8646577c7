-- The record of everything that was run. Times are UTC; durations are seconds; seeds are
-- unsigned 64-bit numbers kept in the signed integers of SQLite (2^63 and above show as
-- negative); hashes and uids are lower-case hex.

CREATE TABLE datasets (
  hash      TEXT    PRIMARY KEY,          -- of the features and labels
  name      TEXT    NOT NULL,
  samples   INTEGER NOT NULL CHECK (samples > 0),
  dim       INTEGER NOT NULL CHECK (dim > 0),
  classes   INTEGER NOT NULL CHECK (classes > 0),
  source    TEXT    NOT NULL,             -- where it came from, in words
  synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE splits (
  hash    TEXT    PRIMARY KEY,            -- of the index lists
  dataset TEXT    NOT NULL REFERENCES datasets (hash),
  kind    TEXT    NOT NULL,               -- random, official, ...
  seed    INTEGER NOT NULL,               -- 0 where the kind draws nothing
  train   INTEGER NOT NULL CHECK (train > 0),
  labeled INTEGER NOT NULL CHECK (labeled BETWEEN 0 AND train), -- training samples that keep their label
  test    INTEGER NOT NULL CHECK (test >= 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX splits_dataset ON splits (dataset);

-- What can be run: one row per distinct computation.
CREATE TABLE jobs (
  id           INTEGER PRIMARY KEY,       -- of this file only
  key          TEXT NOT NULL UNIQUE,      -- hash of the identity
  name_key     TEXT NOT NULL,             -- hash of the identity without hashes and versions
  identity     TEXT NOT NULL CHECK (json_valid(identity)),
  dataset      TEXT NOT NULL,             -- the name it was asked for by
  dataset_hash TEXT NOT NULL REFERENCES datasets (hash),
  split_hash   TEXT NOT NULL REFERENCES splits (hash),
  method       TEXT NOT NULL,
  pretext      TEXT NOT NULL,             -- empty where there is none
  eval         TEXT NOT NULL,             -- the part that is scored, and how
  seed         INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_name_key ON jobs (name_key);
CREATE INDEX jobs_cell ON jobs (dataset, method, pretext, seed);
CREATE INDEX jobs_dataset_hash ON jobs (dataset_hash);
CREATE INDEX jobs_split_hash ON jobs (split_hash);

-- On what it was run: commit, compiler, BLAS, processor, system.
CREATE TABLE envs (
  id    TEXT PRIMARY KEY,                 -- SHA-256 of facts
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT, WITHOUT ROWID;

-- The attempts at a job.
CREATE TABLE runs (
  id      INTEGER PRIMARY KEY,            -- of this file only
  uid     TEXT NOT NULL UNIQUE,           -- 128 random bits, the same in every file
  job     INTEGER NOT NULL REFERENCES jobs (id),
  status  TEXT NOT NULL CHECK (status IN ('ok', 'error', 'panic', 'timeout', 'interrupted')),
  error   TEXT NOT NULL CHECK ((error = '') = (status = 'ok')),
  started TEXT NOT NULL,                  -- 2006-01-02T15:04:05.000000Z: sorts as text
  wall    REAL NOT NULL CHECK (wall >= 0),
  cpu     REAL NOT NULL CHECK (cpu >= 0),
  peak    INTEGER CHECK (peak > 0),       -- bytes; null where unknown
  env     TEXT NOT NULL REFERENCES envs (id)
) STRICT;
CREATE INDEX runs_job ON runs (job, started, uid);
CREATE INDEX runs_ok ON runs (job, started, uid) WHERE status = 'ok';
CREATE INDEX runs_env ON runs (env);

CREATE TABLE metrics (
  run   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name  TEXT    NOT NULL,
  value REAL    NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
  run       INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name      TEXT    NOT NULL,
  iteration INTEGER NOT NULL,
  value     REAL    NOT NULL,
  PRIMARY KEY (run, name, iteration)
) STRICT, WITHOUT ROWID;

CREATE TABLE predictions (
  run     INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  samples INTEGER NOT NULL CHECK (samples > 0),
  classes BLOB    NOT NULL,               -- the predicted classes as uvarints, in the order of the split
  sha256  TEXT    NOT NULL                -- of classes
) STRICT;

-- What the tuning of a cell tried, and what it took.
CREATE TABLE choices (
  spec       TEXT    NOT NULL,
  row        TEXT    NOT NULL,
  dataset    TEXT    NOT NULL,
  selection  TEXT    NOT NULL,            -- paper, val or test
  chosen     INTEGER NOT NULL CHECK (chosen >= 0),
  candidates TEXT    NOT NULL,            -- [{"params": {...}, "scores": {"<seed>": score, ...}}, ...]
  tried      INTEGER GENERATED ALWAYS AS (json_array_length(candidates)) VIRTUAL,
  params     TEXT    GENERATED ALWAYS AS (json_extract(candidates, '$[' || chosen || '].params')) VIRTUAL,
  PRIMARY KEY (spec, row, dataset, selection)
) STRICT, WITHOUT ROWID;

-- The run that counts: the earliest that went well, whatever came before or after it.
-- The uid breaks a tie, so that the order of imports does not matter.
CREATE VIEW finished (job, run) AS
  SELECT r.job, r.id FROM runs r
  WHERE r.id = (SELECT e.id FROM runs e WHERE e.job = r.job AND e.status = 'ok'
                ORDER BY e.started, e.uid LIMIT 1);

-- One line per number, for those who look at the file by hand.
CREATE VIEW results (dataset, method, pretext, eval, seed, metric, value, job_key, run_uid) AS
  SELECT j.dataset, j.method, j.pretext, j.eval, j.seed, m.name, m.value, j.key, r.uid
  FROM finished f
  JOIN jobs j ON j.id = f.job
  JOIN runs r ON r.id = f.run
  JOIN metrics m ON m.run = f.run;
