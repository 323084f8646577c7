-- What names stood for when runs were recorded, so that results are found by key where the
-- data are absent. The latest registration stands.

CREATE TABLE dataset_names (
  name    TEXT PRIMARY KEY,
  dataset TEXT NOT NULL REFERENCES datasets (hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX dataset_names_dataset ON dataset_names (dataset);

CREATE TABLE split_names (
  dataset TEXT    NOT NULL REFERENCES datasets (hash),
  asked   TEXT    NOT NULL,               -- as a spec asks for it: "class train=0.7 labels=0.4"
  seed    INTEGER NOT NULL,
  split   TEXT    NOT NULL REFERENCES splits (hash),
  PRIMARY KEY (dataset, asked, seed)
) STRICT, WITHOUT ROWID;
CREATE INDEX split_names_split ON split_names (split);

-- Jobs are found by key alone, and what a tuning chose follows from its runs.
DROP INDEX jobs_name_key;
ALTER TABLE jobs DROP COLUMN name_key;
DROP TABLE choices;

-- Metrics have the names that specs use.
UPDATE metrics SET name = 'balanced-accuracy' WHERE name = 'balanced_accuracy';
