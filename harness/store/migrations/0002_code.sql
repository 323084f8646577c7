-- Which code a run is of, why it was run, what it should have predicted, and what replaced it.

-- Fingerprints of the method's and the pretext's code; empty where unknown or where there is none.
ALTER TABLE runs ADD COLUMN method_code TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN pretext_code TEXT NOT NULL DEFAULT '';
-- Why the job was run again; empty for its first run.
ALTER TABLE runs ADD COLUMN reason TEXT NOT NULL DEFAULT '';

-- Runs that no longer count because a later one was made in their place, by uid, so that
-- files can be merged in any order.
CREATE TABLE replaced (
  uid TEXT PRIMARY KEY,
  new TEXT NOT NULL                       -- uid of the run that replaced it
) STRICT, WITHOUT ROWID;

-- The true classes of what was predicted, once for all runs of a split.
CREATE TABLE truths (
  sha256  TEXT    PRIMARY KEY,            -- of classes
  samples INTEGER NOT NULL CHECK (samples > 0),
  classes BLOB    NOT NULL                -- as uvarints, in the order of the split
) STRICT, WITHOUT ROWID;
ALTER TABLE predictions ADD COLUMN truth TEXT REFERENCES truths (sha256);
ALTER TABLE datasets ADD COLUMN class_names TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(class_names));

DROP VIEW results;
DROP VIEW finished;
CREATE VIEW finished (job, run) AS
  SELECT r.job, r.id FROM runs r
  WHERE r.id = (SELECT e.id FROM runs e
                WHERE e.job = r.job AND e.status = 'ok'
                  AND NOT EXISTS (SELECT 1 FROM replaced p WHERE p.uid = e.uid)
                ORDER BY e.started, e.uid LIMIT 1);
CREATE VIEW results (dataset, method, pretext, eval, seed, metric, value, job_key, run_uid) AS
  SELECT j.dataset, j.method, j.pretext, j.eval, j.seed, m.name, m.value, j.key, r.uid
  FROM finished f
  JOIN jobs j ON j.id = f.job
  JOIN runs r ON r.id = f.run
  JOIN metrics m ON m.run = f.run;
