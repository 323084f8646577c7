-- A store of schema 1, as the program wrote it: two seeds of two methods on 24 samples.
BEGIN TRANSACTION;
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
INSERT INTO "choices" VALUES('fixture','crc','tiny','val',0,'[{"params":[{"lambda":0.1,"rule":"ratio"},null],"scores":{"1":1,"2":1}},{"params":[{"lambda":1,"rule":"ratio"},null],"scores":{"1":1,"2":1}}]');
CREATE TABLE datasets (
  hash      TEXT    PRIMARY KEY,          -- of the features and labels
  name      TEXT    NOT NULL,
  samples   INTEGER NOT NULL CHECK (samples > 0),
  dim       INTEGER NOT NULL CHECK (dim > 0),
  classes   INTEGER NOT NULL CHECK (classes > 0),
  source    TEXT    NOT NULL,             -- where it came from, in words
  synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO "datasets" VALUES('aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','tiny',24,6,2,'tiny.csv',0);
CREATE TABLE envs (
  id    TEXT PRIMARY KEY,                 -- SHA-256 of facts
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT, WITHOUT ROWID;
INSERT INTO "envs" VALUES('e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','{"arch":"amd64","blas":"go-avx2","cpu":"","go":"go1.26.0","os":"linux"}');
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
INSERT INTO "jobs" VALUES(1,'085e3b24dbe3e9feba567c18d000eb04f1c006e913300b3147b5f776910a573a','a2ad753d96ded0e04d04b59677a6145cd129b7c0a358077aca794d4971b54b8e','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":1,"eval":"val","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','crc','','val',1);
INSERT INTO "jobs" VALUES(2,'fb8602a06d8e7095cd04b2b726f625891c3a4e60558669ca22396bbd3286ea25','dd5712c4e9cb76a2c04a36a33624ddd242b751357abf55d45ffdd5ab5c5c1f56','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":2,"eval":"val","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','crc','','val',2);
INSERT INTO "jobs" VALUES(3,'bd97097aba90b4d23b21e0c58c18814de22a21f2755d8f7f1c7121ca9621c1ea','86a32f304b86d3576618bf028f01811b38d7a095d60d6041d935de9a4b8d788a','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"crc","version":2,"params":{"lambda":1,"rule":"ratio"}},"seed":1,"eval":"val","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','crc','','val',1);
INSERT INTO "jobs" VALUES(4,'dc450e070b123508ce1d7cf8a72579e2c9de2d1a3dfa1ec52d862b05d78aa9c9','81155201d9f10502e1c7d99eab95a8ff15bcae840ab5054d47b866f1d1f98f6e','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"crc","version":2,"params":{"lambda":1,"rule":"ratio"}},"seed":2,"eval":"val","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','crc','','val',2);
INSERT INTO "jobs" VALUES(5,'e7a12b92278e2d31d58fb4a25b1e83a542be3517ed2bb2a6351bdfa75c6b2a59','b991eaf8d6bff0d345ade80d4c1553010d201c56fee0f400c949e8b7212ac9e8','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"ssdl","version":2,"params":{"K":4,"alpha":0.000244140625,"gamma":0.000244140625,"iterations":2,"tolerance":0.000001,"variant":"as-intended"}},"pretext":{"name":"hl","version":2,"params":{"bandwidth":"unit","fill":0.5,"k":3,"lambda":0.1,"shift":0}},"seed":1,"eval":"test","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','ssdl','hl','test',1);
INSERT INTO "jobs" VALUES(6,'2f918c34be2a4066a0bdbd08916f1f5432b244e3632a4cb4871897f857b71787','5dfba71f033d81a8ec753029b11adf0f3f7266a8bfd789e0648b3b66639dc699','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"ssdl","version":2,"params":{"K":4,"alpha":0.000244140625,"gamma":0.000244140625,"iterations":2,"tolerance":0.000001,"variant":"as-intended"}},"pretext":{"name":"hl","version":2,"params":{"bandwidth":"unit","fill":0.5,"k":3,"lambda":0.1,"shift":0}},"seed":2,"eval":"test","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','ssdl','hl','test',2);
INSERT INTO "jobs" VALUES(7,'dcea976919a95c6a21f6f7cd857bac5e6003ffb3ae80eeb68f7a496c8af65442','68690ca8c6e62752f448b7102ac864d4f41b73bfecd3c12b4876868b3a1b30bf','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":1,"eval":"test","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','crc','','test',1);
INSERT INTO "jobs" VALUES(8,'96f24431a77462ce09e5eabb48b252a25bc9ac1ffd5bf6f8932bbc27b8062aef','17db25a811d9037eac5abd2c8e383f34ac859656cc521e89b57918d3b4c4a930','{"dataset":"aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":2,"eval":"test","metric_version":1}','tiny','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','crc','','test',2);
CREATE TABLE metrics (
  run   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name  TEXT    NOT NULL,
  value REAL    NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "metrics" VALUES(1,'accuracy',1.0);
INSERT INTO "metrics" VALUES(1,'balanced_accuracy',1.0);
INSERT INTO "metrics" VALUES(2,'accuracy',1.0);
INSERT INTO "metrics" VALUES(2,'balanced_accuracy',1.0);
INSERT INTO "metrics" VALUES(3,'accuracy',1.0);
INSERT INTO "metrics" VALUES(3,'balanced_accuracy',1.0);
INSERT INTO "metrics" VALUES(4,'accuracy',1.0);
INSERT INTO "metrics" VALUES(4,'balanced_accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'balanced_accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'pseudo_accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'pseudo_bce',4.15853011966637264862e-01);
INSERT INTO "metrics" VALUES(5,'test_unconverged',0.0);
INSERT INTO "metrics" VALUES(6,'accuracy',1.0);
INSERT INTO "metrics" VALUES(6,'balanced_accuracy',1.0);
INSERT INTO "metrics" VALUES(6,'pseudo_accuracy',1.0);
INSERT INTO "metrics" VALUES(6,'pseudo_bce',4.41957859270167063847e-01);
INSERT INTO "metrics" VALUES(6,'test_unconverged',0.0);
INSERT INTO "metrics" VALUES(7,'accuracy',1.0);
INSERT INTO "metrics" VALUES(7,'balanced_accuracy',1.0);
INSERT INTO "metrics" VALUES(8,'accuracy',1.0);
INSERT INTO "metrics" VALUES(8,'balanced_accuracy',1.0);
CREATE TABLE predictions (
  run     INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  samples INTEGER NOT NULL CHECK (samples > 0),
  classes BLOB    NOT NULL,               -- the predicted classes as uvarints, in the order of the split
  sha256  TEXT    NOT NULL                -- of classes
) STRICT;
INSERT INTO "predictions" VALUES(1,2,X'0001','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2');
INSERT INTO "predictions" VALUES(2,2,X'0100','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254');
INSERT INTO "predictions" VALUES(3,2,X'0001','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2');
INSERT INTO "predictions" VALUES(4,2,X'0100','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254');
INSERT INTO "predictions" VALUES(5,8,X'0001000001010001','61e1d09d63c9c070c44fd81c3a8ff66ee8478a6dda7a3af5d33fb50cdb06c885');
INSERT INTO "predictions" VALUES(6,8,X'0001010000000101','bbacd855fb1d7eb94cdda3b8ba09c12ca3c608980acb2667ebd6bd258c5bd63d');
INSERT INTO "predictions" VALUES(7,8,X'0001000001010001','61e1d09d63c9c070c44fd81c3a8ff66ee8478a6dda7a3af5d33fb50cdb06c885');
INSERT INTO "predictions" VALUES(8,8,X'0001010000000101','bbacd855fb1d7eb94cdda3b8ba09c12ca3c608980acb2667ebd6bd258c5bd63d');
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
INSERT INTO "runs" VALUES(1,'c603b8782e17f56ff996dec010bdcff3',1,'ok','','2026-11-21T07:26:30.699422Z',0.000180969,0.000195,7502088,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
INSERT INTO "runs" VALUES(2,'f9e4e2be45bd3a5f8fbb772f66df8246',2,'ok','','2026-11-21T07:26:30.700168Z',0.000118099,0.000118,7657736,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
INSERT INTO "runs" VALUES(3,'e2e4ead46c683162766fb233da57b493',3,'ok','','2026-11-21T07:26:30.700520Z',6.7934e-05,6.8e-05,7756040,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
INSERT INTO "runs" VALUES(4,'d883e0baeed96a6015ceb1353e623171',4,'ok','','2026-11-21T07:26:30.700757Z',6.22e-05,6.2e-05,7821576,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
INSERT INTO "runs" VALUES(5,'41ebe53fd59141451e5150d3170bc52a',5,'ok','','2026-11-21T07:26:30.701007Z',0.00033249,0.000332,7837960,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
INSERT INTO "runs" VALUES(6,'67b916d85b36efb18c3df4e7931bb8d4',6,'ok','','2026-11-21T07:26:30.701611Z',0.000252016,0.000252,7837960,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
INSERT INTO "runs" VALUES(7,'c6d194b09c1db158d3528abcdb7080ca',7,'ok','','2026-11-21T07:26:30.716100Z',0.000176241,0.000216,8206600,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
INSERT INTO "runs" VALUES(8,'dc4d27d4b60b4d8450507ae952455b32',8,'ok','','2026-11-21T07:26:30.716714Z',0.000124144,0.000151,8395016,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05');
CREATE TABLE series (
  run       INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name      TEXT    NOT NULL,
  iteration INTEGER NOT NULL,
  value     REAL    NOT NULL,
  PRIMARY KEY (run, name, iteration)
) STRICT, WITHOUT ROWID;
INSERT INTO "series" VALUES(1,'zero codes',0,0.0);
INSERT INTO "series" VALUES(2,'zero codes',0,0.0);
INSERT INTO "series" VALUES(3,'zero codes',0,0.0);
INSERT INTO "series" VALUES(4,'zero codes',0,0.0);
INSERT INTO "series" VALUES(5,'objective',0,16.00390625);
INSERT INTO "series" VALUES(5,'objective',1,1.4003181257994727904e+00);
INSERT INTO "series" VALUES(5,'objective',2,3.530172765359715914e-01);
INSERT INTO "series" VALUES(5,'pretext.cg_iterations',0,12.0);
INSERT INTO "series" VALUES(5,'pretext.delta_min',0,-4.16333634234433702658e-17);
INSERT INTO "series" VALUES(5,'pretext.mean_unlabelled',0,4.74678065974121765613e-01);
INSERT INTO "series" VALUES(5,'test_gap',0,1.87956300237816494608e-13);
INSERT INTO "series" VALUES(5,'test_unconverged',0,0.0);
INSERT INTO "series" VALUES(6,'objective',0,16.00390625);
INSERT INTO "series" VALUES(6,'objective',1,6.3912184945251326873e-01);
INSERT INTO "series" VALUES(6,'objective',2,0.216589133350079);
INSERT INTO "series" VALUES(6,'pretext.cg_iterations',0,12.0);
INSERT INTO "series" VALUES(6,'pretext.delta_min',0,-1.38777878078144567552e-17);
INSERT INTO "series" VALUES(6,'pretext.mean_unlabelled',0,4.72705630332777793078e-01);
INSERT INTO "series" VALUES(6,'test_gap',0,9.77809184122877230599e-15);
INSERT INTO "series" VALUES(6,'test_unconverged',0,0.0);
INSERT INTO "series" VALUES(7,'zero codes',0,0.0);
INSERT INTO "series" VALUES(8,'zero codes',0,0.0);
CREATE TABLE splits (
  hash    TEXT    PRIMARY KEY,            -- of the index lists
  dataset TEXT    NOT NULL REFERENCES datasets (hash),
  kind    TEXT    NOT NULL,               -- random, official, ...
  seed    INTEGER NOT NULL,               -- 0 where the kind draws nothing
  train   INTEGER NOT NULL CHECK (train > 0),
  labeled INTEGER NOT NULL CHECK (labeled BETWEEN 0 AND train), -- training samples that keep their label
  test    INTEGER NOT NULL CHECK (test >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "splits" VALUES('0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','class',1,16,6,8);
INSERT INTO "splits" VALUES('482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','aa34d5ff9794359937fb7442c69bc5b75260911f940adabd0eb578b6dc1bc753','class',2,16,6,8);
CREATE INDEX splits_dataset ON splits (dataset);
CREATE INDEX jobs_name_key ON jobs (name_key);
CREATE INDEX jobs_cell ON jobs (dataset, method, pretext, seed);
CREATE INDEX jobs_dataset_hash ON jobs (dataset_hash);
CREATE INDEX jobs_split_hash ON jobs (split_hash);
CREATE INDEX runs_job ON runs (job, started, uid);
CREATE INDEX runs_ok ON runs (job, started, uid) WHERE status = 'ok';
CREATE INDEX runs_env ON runs (env);
CREATE VIEW finished (job, run) AS
  SELECT r.job, r.id FROM runs r
  WHERE r.id = (SELECT e.id FROM runs e WHERE e.job = r.job AND e.status = 'ok'
                ORDER BY e.started, e.uid LIMIT 1);
CREATE VIEW results (dataset, method, pretext, eval, seed, metric, value, job_key, run_uid) AS
  SELECT j.dataset, j.method, j.pretext, j.eval, j.seed, m.name, m.value, j.key, r.uid
  FROM finished f
  JOIN jobs j ON j.id = f.job
  JOIN runs r ON r.id = f.run
  JOIN metrics m ON m.run = f.run;
COMMIT;
PRAGMA application_id = 1397965900;
PRAGMA user_version = 1;
