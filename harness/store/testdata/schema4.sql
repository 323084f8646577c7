-- A store of schema 4: that of schema 3 as the program converted it, and two runs that it recorded then: one in place
-- of an earlier one, and one that was out of memory.
BEGIN TRANSACTION;
CREATE TABLE dataset_names (
  name    TEXT PRIMARY KEY,
  dataset TEXT NOT NULL REFERENCES datasets (hash)
) STRICT, WITHOUT ROWID;
INSERT INTO "dataset_names" VALUES('tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced');
CREATE TABLE datasets (
  hash      TEXT    PRIMARY KEY,          -- of the features and labels
  name      TEXT    NOT NULL,
  samples   INTEGER NOT NULL CHECK (samples > 0),
  dim       INTEGER NOT NULL CHECK (dim > 0),
  classes   INTEGER NOT NULL CHECK (classes > 0),
  source    TEXT    NOT NULL,             -- where it came from, in words
  synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1))
, class_names TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(class_names)), declared TEXT NOT NULL DEFAULT '', dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped >= 0)) STRICT, WITHOUT ROWID;
INSERT INTO "datasets" VALUES('9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','tiny',24,6,2,'data/tiny.csv',0,'["0","1"]','',0);
CREATE TABLE envs (
  id    TEXT PRIMARY KEY,                 -- SHA-256 of facts
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT, WITHOUT ROWID;
INSERT INTO "envs" VALUES('a8279581e70dab9bcbc2572a53fc7bc69001c2a313f0cf64529779fed54be725','{"arch":"amd64","blas":"go-avx2","cpu":"","go":"go1.26.8","os":"linux"}');
INSERT INTO "envs" VALUES('e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','{"arch":"amd64","blas":"go-avx2","cpu":"","go":"go1.26.0","os":"linux"}');
CREATE TABLE jobs (
  id           INTEGER PRIMARY KEY,       -- of this file only
  key          TEXT NOT NULL UNIQUE,      -- hash of the identity
  identity     TEXT NOT NULL CHECK (json_valid(identity)),
  dataset      TEXT NOT NULL,             -- the name it was asked for by
  dataset_hash TEXT NOT NULL REFERENCES datasets (hash),
  split_hash   TEXT NOT NULL REFERENCES splits (hash),
  method       TEXT NOT NULL,
  pretext      TEXT NOT NULL,             -- empty where there is none
  eval         TEXT NOT NULL,             -- the part that is scored, and how
  seed         INTEGER NOT NULL
) STRICT;
INSERT INTO "jobs" VALUES(1,'cc962047f15970c5ecc30f7124b512a3346865c0ae5a9c2375b5572e37043d90','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":1,"eval":"val","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','crc','','val',1);
INSERT INTO "jobs" VALUES(2,'c3f9115c039c6cbdaeead76d0825b76ab9f37fb020dc3c23b560f6e38efca319','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":2,"eval":"val","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','crc','','val',2);
INSERT INTO "jobs" VALUES(3,'a17bdf30db6aa33052560d187801b9b368c6776c908045d27a8edeefbe94b256','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"crc","version":2,"params":{"lambda":1,"rule":"ratio"}},"seed":1,"eval":"val","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','crc','','val',1);
INSERT INTO "jobs" VALUES(4,'d525e6080ffe36b53ac04ca462f7fa2278824ce4b3ef042671fceca1b3060d34','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"crc","version":2,"params":{"lambda":1,"rule":"ratio"}},"seed":2,"eval":"val","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','crc','','val',2);
INSERT INTO "jobs" VALUES(5,'6ca94e9e8e87721caaac251359bd4344c68d645fbc5fe159010527ea16142b24','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"ssdl","version":2,"params":{"K":4,"alpha":0.000244140625,"gamma":0.000244140625,"iterations":2,"norm":"ball","targets":"unit","test":"exact","tolerance":0.000001}},"pretext":{"name":"hl","version":2,"params":{"bandwidth":"unit","fill":0.5,"k":3,"lambda":0.1,"shift":0}},"seed":1,"eval":"test","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','ssdl','hl','test',1);
INSERT INTO "jobs" VALUES(6,'0da42d351bb4ca000ca9d4e43c9b0fc67ada16a6a4dc0448ad3816897c7d93d3','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"ssdl","version":2,"params":{"K":4,"alpha":0.000244140625,"gamma":0.000244140625,"iterations":2,"norm":"ball","targets":"unit","test":"exact","tolerance":0.000001}},"pretext":{"name":"hl","version":2,"params":{"bandwidth":"unit","fill":0.5,"k":3,"lambda":0.1,"shift":0}},"seed":2,"eval":"test","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','ssdl','hl','test',2);
INSERT INTO "jobs" VALUES(7,'75b4b5f8cc6aede999e6a0209ca97f5e8199eedf7fed2d5e69c15cac1ad98968','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":1,"eval":"test","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','crc','','test',1);
INSERT INTO "jobs" VALUES(8,'88923dc561a4b768659ac2f1f27cf2438614c3de3bf82144446a42605272aeca','{"dataset":"9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced","split":"482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155","method":{"name":"crc","version":2,"params":{"lambda":0.1,"rule":"ratio"}},"seed":2,"eval":"test","metric_version":1}','tiny','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','crc','','test',2);
CREATE TABLE metrics (
  run   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name  TEXT    NOT NULL,
  value REAL    NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "metrics" VALUES(1,'accuracy',1.0);
INSERT INTO "metrics" VALUES(1,'balanced-accuracy',1.0);
INSERT INTO "metrics" VALUES(2,'accuracy',1.0);
INSERT INTO "metrics" VALUES(2,'balanced-accuracy',1.0);
INSERT INTO "metrics" VALUES(3,'accuracy',1.0);
INSERT INTO "metrics" VALUES(3,'balanced-accuracy',1.0);
INSERT INTO "metrics" VALUES(4,'accuracy',1.0);
INSERT INTO "metrics" VALUES(4,'balanced-accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'balanced-accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'pseudo_accuracy',1.0);
INSERT INTO "metrics" VALUES(5,'pseudo_bce',5.20400430650799439291e-01);
INSERT INTO "metrics" VALUES(5,'test_unconverged',0.0);
INSERT INTO "metrics" VALUES(6,'accuracy',0.875);
INSERT INTO "metrics" VALUES(6,'balanced-accuracy',0.875);
INSERT INTO "metrics" VALUES(6,'pseudo_accuracy',1.0);
INSERT INTO "metrics" VALUES(6,'pseudo_bce',4.43910953631174165501e-01);
INSERT INTO "metrics" VALUES(6,'test_unconverged',0.0);
INSERT INTO "metrics" VALUES(7,'accuracy',1.0);
INSERT INTO "metrics" VALUES(7,'balanced-accuracy',1.0);
INSERT INTO "metrics" VALUES(8,'accuracy',0.875);
INSERT INTO "metrics" VALUES(8,'balanced-accuracy',0.875);
INSERT INTO "metrics" VALUES(102,'accuracy',0.5);
INSERT INTO "metrics" VALUES(103,'accuracy',0.875);
INSERT INTO "metrics" VALUES(103,'balanced-accuracy',0.875);
INSERT INTO "metrics" VALUES(103,'pseudo_accuracy',1.0);
INSERT INTO "metrics" VALUES(103,'pseudo_bce',4.43910953631174165501e-01);
INSERT INTO "metrics" VALUES(103,'test_unconverged',0.0);
INSERT INTO "metrics" VALUES(104,'accuracy',1.0);
INSERT INTO "metrics" VALUES(104,'balanced-accuracy',1.0);
CREATE TABLE origins (
  id       INTEGER PRIMARY KEY,           -- of this file only
  name     TEXT NOT NULL,                 -- of the file, as its user gave it
  sha256   TEXT NOT NULL,                 -- of the file
  imported TEXT NOT NULL,                 -- 2006-01-02T15:04:05.000000Z
  signer   TEXT NOT NULL,                 -- who signed the file; empty without a signature
  UNIQUE (name, sha256, imported)
) STRICT;
CREATE TABLE predictions (
  run     INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  samples INTEGER NOT NULL CHECK (samples > 0),
  classes BLOB    NOT NULL,               -- the predicted classes as uvarints, in the order of the split
  sha256  TEXT    NOT NULL                -- of classes
, truth TEXT REFERENCES truths (sha256)) STRICT;
INSERT INTO "predictions" VALUES(1,2,X'0001','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2');
INSERT INTO "predictions" VALUES(2,2,X'0100','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254');
INSERT INTO "predictions" VALUES(3,2,X'0001','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2');
INSERT INTO "predictions" VALUES(4,2,X'0100','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254');
INSERT INTO "predictions" VALUES(5,8,X'0001000001010001','61e1d09d63c9c070c44fd81c3a8ff66ee8478a6dda7a3af5d33fb50cdb06c885','61e1d09d63c9c070c44fd81c3a8ff66ee8478a6dda7a3af5d33fb50cdb06c885');
INSERT INTO "predictions" VALUES(6,8,X'0001010000000001','090b5ea336d2a3fae01b94507c3609d9103ac09195f599993d6271b148bf725e','bbacd855fb1d7eb94cdda3b8ba09c12ca3c608980acb2667ebd6bd258c5bd63d');
INSERT INTO "predictions" VALUES(7,8,X'0001000001010001','61e1d09d63c9c070c44fd81c3a8ff66ee8478a6dda7a3af5d33fb50cdb06c885','61e1d09d63c9c070c44fd81c3a8ff66ee8478a6dda7a3af5d33fb50cdb06c885');
INSERT INTO "predictions" VALUES(8,8,X'0001010000000001','090b5ea336d2a3fae01b94507c3609d9103ac09195f599993d6271b148bf725e','bbacd855fb1d7eb94cdda3b8ba09c12ca3c608980acb2667ebd6bd258c5bd63d');
INSERT INTO "predictions" VALUES(102,2,X'0001','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2','b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2');
INSERT INTO "predictions" VALUES(103,8,X'0001010000000001','090b5ea336d2a3fae01b94507c3609d9103ac09195f599993d6271b148bf725e','bbacd855fb1d7eb94cdda3b8ba09c12ca3c608980acb2667ebd6bd258c5bd63d');
INSERT INTO "predictions" VALUES(104,2,X'0100','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254','47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254');
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
CREATE TABLE replaced (
  uid TEXT PRIMARY KEY,
  new TEXT NOT NULL                       -- uid of the run that replaced it
) STRICT, WITHOUT ROWID;
INSERT INTO "replaced" VALUES('00000000000000000000000000000102','2a9a73e938e8e3ae666460c3b7503c56');
INSERT INTO "replaced" VALUES('9be06da0c94b1776a0e329fdf5f2711a','00112233445566778899aabbccddeeff');
INSERT INTO "replaced" VALUES('b464b31bf32dadae1985bcb6b432e869','00000000000000000000000000000103');
CREATE TABLE runs (
  id      INTEGER PRIMARY KEY,            -- of this file only
  uid     TEXT NOT NULL UNIQUE,           -- 128 random bits, the same in every file
  job     INTEGER NOT NULL REFERENCES jobs (id),
  started TEXT NOT NULL,                  -- 2006-01-02T15:04:05.000000Z: sorts as text
  wall    REAL NOT NULL CHECK (wall >= 0),
  cpu     REAL NOT NULL CHECK (cpu >= 0),
  peak    INTEGER CHECK (peak > 0),       -- bytes; null where unknown
  env     TEXT NOT NULL REFERENCES envs (id)
, method_code TEXT NOT NULL DEFAULT '', pretext_code TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '', origin INTEGER REFERENCES origins (id), rank INTEGER NOT NULL DEFAULT 0 CHECK ((origin IS NULL) = (rank = 0)), replaces TEXT NOT NULL DEFAULT '', protocol_code TEXT NOT NULL DEFAULT '', series_hash TEXT NOT NULL DEFAULT '', hashed TEXT NOT NULL DEFAULT 'migrated' CHECK (hashed IN ('recorded', 'migrated')), record_hash TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'ok' CHECK (status IN ('ok', 'error', 'panic', 'timeout', 'out of memory', 'interrupted')), error TEXT NOT NULL DEFAULT '' CHECK ((error = '') = (status = 'ok'))) STRICT;
INSERT INTO "runs" VALUES(1,'2a9a73e938e8e3ae666460c3b7503c56',1,'2026-11-21T23:57:40.815038Z',0.00039846,0.000416,12335368,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','4988101ee8aab153','','stale: code of the method changed: 0011223344556677 -> 4988101ee8aab153',NULL,0,'00000000000000000000000000000102','','2a60587b21b0b7365911805d96161dec4f90227521075ac183dedd7611a497c3','migrated','82b14f359a5ee76b5cd4f175461955ce68ad022f4f220a899ff0a82940f71094','ok','');
INSERT INTO "runs" VALUES(2,'9be06da0c94b1776a0e329fdf5f2711a',2,'2026-11-21T23:57:40.816153Z',8.447e-05,9.3e-05,12335368,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','4988101ee8aab153','','',NULL,0,'','','2a60587b21b0b7365911805d96161dec4f90227521075ac183dedd7611a497c3','migrated','5fb8cc8bdb361cb2a7ee16c735cfd68a3942bb7bf4ef5e9a6e6a27a9e76c2d74','ok','');
INSERT INTO "runs" VALUES(3,'a6f0d8be0c72964382afe4fb591c5f13',3,'2026-11-21T23:57:40.816715Z',9.804e-05,0.000111,12335368,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','4988101ee8aab153','','',NULL,0,'','','2a60587b21b0b7365911805d96161dec4f90227521075ac183dedd7611a497c3','migrated','d3fe78be6f2a5eb32a24ba7bce54d103d8b64b5a3c5cdd4d8d6a757ec7d084cb','ok','');
INSERT INTO "runs" VALUES(4,'f5352e5fa3613ea05e1a529253295ead',4,'2026-11-21T23:57:40.817084Z',5.278e-05,5.9e-05,12597512,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','4988101ee8aab153','','',NULL,0,'','','2a60587b21b0b7365911805d96161dec4f90227521075ac183dedd7611a497c3','migrated','29e78b4914befb64b026e8779354ecdef4de38ca750c5f3ff7648c2cf68613ef','ok','');
INSERT INTO "runs" VALUES(5,'3bb83bd953177e5df9b19792203058bc',5,'2026-11-21T23:57:40.817417Z',0.00070575,0.000799,12597512,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','bee6080bff117b53','2b1301424773b46d','',NULL,0,'','','3ad70872901eaf10bf17c00c8b473e81570a5354bffb0c59b410eceabef1a947','migrated','4ef9c42526dbc647656442b22a38a750f5184948903bb9cc4594a532e21f931a','ok','');
INSERT INTO "runs" VALUES(6,'b464b31bf32dadae1985bcb6b432e869',6,'2026-11-21T23:57:40.818714Z',0.00025736,0.000485,12597512,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','bee6080bff117b53','2b1301424773b46d','',NULL,0,'','','1770f5f19debb7e706adad28925655b5cce07aee2374394c232c3a5ed9258b72','migrated','d554d032ca2655cd0716efc7151ae00ac70eda6a5178a7a5845bf7ab0e455c23','ok','');
INSERT INTO "runs" VALUES(7,'acb074888503a3ebe2faf9acc1e8b626',7,'2026-11-21T23:57:40.820803Z',8.974e-05,0.000105,12597512,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','4988101ee8aab153','','',NULL,0,'','','2a60587b21b0b7365911805d96161dec4f90227521075ac183dedd7611a497c3','migrated','b2538b27dcad180eb547d6a125f623b327b70b32be2709f2f81848d3eba18ac1','ok','');
INSERT INTO "runs" VALUES(8,'34dee2406acda23d5d68084752819131',8,'2026-11-21T23:57:40.821254Z',6.51e-05,7.5e-05,12597512,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','4988101ee8aab153','','',NULL,0,'','','2a60587b21b0b7365911805d96161dec4f90227521075ac183dedd7611a497c3','migrated','b4bf41417056fd510ab7007afff2135d7f501d3abb1fed986bcba78774e52f2e','ok','');
INSERT INTO "runs" VALUES(101,'00000000000000000000000000000101',1,'2026-01-01T00:00:00.000000Z',0.00039846,0.000416,12335368,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','4988101ee8aab153','','',NULL,0,'','','','migrated','ee80238fc4ddf38f6a381391d992c4db5928b8257ad704fea5215132196e00c8','error','no memory');
INSERT INTO "runs" VALUES(102,'00000000000000000000000000000102',1,'2026-01-02T00:00:00.000000Z',0.00039846,0.000416,12335368,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','0011223344556677','','',NULL,0,'','','','migrated','1c3f8e29b2a37ff61b7dc0870e13824c65da31a2e6364b4c2ab45228f5a61c42','ok','');
INSERT INTO "runs" VALUES(103,'00000000000000000000000000000103',6,'2026-11-22T00:00:00.000000Z',0.00025736,0.000485,12597512,'a8279581e70dab9bcbc2572a53fc7bc69001c2a313f0cf64529779fed54be725','0102030405060708','2b1301424773b46d','stale: method code bee6080bff11 -> 010203040506',NULL,0,'b464b31bf32dadae1985bcb6b432e869','','1770f5f19debb7e706adad28925655b5cce07aee2374394c232c3a5ed9258b72','migrated','48190f26c7f856fd2118a952a525f625d94ed2c3ced1ccf1fe8f8b6f3fc15ee3','ok','');
INSERT INTO "runs" VALUES(104,'00112233445566778899aabbccddeeff',2,'2026-11-23T23:57:40.816153Z',8.447e-05,9.3e-05,12335368,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','1234567890abcdef','','stale: method code',NULL,0,'9be06da0c94b1776a0e329fdf5f2711a','','2a60587b21b0b7365911805d96161dec4f90227521075ac183dedd7611a497c3','recorded','887a7c7d007ccc1543f70c47692ce0580a0c2a9878438c479fdabc96d62b6b92','ok','');
INSERT INTO "runs" VALUES(105,'ff112233445566778899aabbccddeeff',2,'2026-11-24T00:57:40.816153Z',8.447e-05,9.3e-05,12335368,'e56a8acfb60d3d2e4e83ed4c0d1d7f56f4205e7f74f6af03114c1852d89fab05','1234567890abcdef','','stale: method code',NULL,0,'','','','recorded','595e830ee6b85eb9c288d130a3d1068bf2623ceaa2a64ad9e594826b87e2c68f','out of memory','crc on tiny, seed 1: needs more than the 0.1 GiB that --memory allows');
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
INSERT INTO "series" VALUES(5,'objective',1,1.70267017253582264579e+00);
INSERT INTO "series" VALUES(5,'objective',2,6.00500450063060853267e-01);
INSERT INTO "series" VALUES(5,'pretext.cg_iterations',0,14.0);
INSERT INTO "series" VALUES(5,'pretext.delta_min',0,-4.16333634234433702658e-17);
INSERT INTO "series" VALUES(5,'pretext.mean_unlabelled',0,4.78781678396886067883e-01);
INSERT INTO "series" VALUES(5,'test_gap',0,7.59554318540511851174e-15);
INSERT INTO "series" VALUES(5,'test_unconverged',0,0.0);
INSERT INTO "series" VALUES(6,'objective',0,16.00390625);
INSERT INTO "series" VALUES(6,'objective',1,8.37663825235942738345e-01);
INSERT INTO "series" VALUES(6,'objective',2,5.79876288230102288068e-01);
INSERT INTO "series" VALUES(6,'pretext.cg_iterations',0,13.0);
INSERT INTO "series" VALUES(6,'pretext.delta_min',0,-2.77555756156289135105e-17);
INSERT INTO "series" VALUES(6,'pretext.mean_unlabelled',0,4.89187145698621705935e-01);
INSERT INTO "series" VALUES(6,'test_gap',0,5.09698192342352669271e-14);
INSERT INTO "series" VALUES(6,'test_unconverged',0,0.0);
INSERT INTO "series" VALUES(7,'zero codes',0,0.0);
INSERT INTO "series" VALUES(8,'zero codes',0,0.0);
INSERT INTO "series" VALUES(103,'objective',0,16.00390625);
INSERT INTO "series" VALUES(103,'objective',1,8.37663825235942738345e-01);
INSERT INTO "series" VALUES(103,'objective',2,5.79876288230102288068e-01);
INSERT INTO "series" VALUES(103,'pretext.cg_iterations',0,13.0);
INSERT INTO "series" VALUES(103,'pretext.delta_min',0,-2.77555756156289135105e-17);
INSERT INTO "series" VALUES(103,'pretext.mean_unlabelled',0,4.89187145698621705935e-01);
INSERT INTO "series" VALUES(103,'test_gap',0,5.09698192342352669271e-14);
INSERT INTO "series" VALUES(103,'test_unconverged',0,0.0);
INSERT INTO "series" VALUES(104,'zero codes',0,0.0);
CREATE TABLE split_names (
  dataset TEXT    NOT NULL REFERENCES datasets (hash),
  asked   TEXT    NOT NULL,               -- as a spec asks for it: "class train=0.7 labels=0.4"
  seed    INTEGER NOT NULL,
  split   TEXT    NOT NULL REFERENCES splits (hash),
  PRIMARY KEY (dataset, asked, seed)
) STRICT, WITHOUT ROWID;
INSERT INTO "split_names" VALUES('9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','class train=0.7 labels=0.4',1,'0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049');
INSERT INTO "split_names" VALUES('9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','class train=0.7 labels=0.4',2,'482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155');
CREATE TABLE splits (
  hash    TEXT    PRIMARY KEY,            -- of the index lists
  dataset TEXT    NOT NULL REFERENCES datasets (hash),
  kind    TEXT    NOT NULL,               -- random, official, ...
  seed    INTEGER NOT NULL,               -- 0 where the kind draws nothing
  train   INTEGER NOT NULL CHECK (train > 0),
  labeled INTEGER NOT NULL CHECK (labeled BETWEEN 0 AND train), -- training samples that keep their label
  test    INTEGER NOT NULL CHECK (test >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "splits" VALUES('0ee5af71fa85dc7fb60239088ceea7e18f5afd41c45ff00f2c81408ee7e50049','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','class',1,16,6,8);
INSERT INTO "splits" VALUES('482274c5bfa61cf4633055eae5b9af593d2531658d9f97477c473ac3778fe155','9798f3431569901a3f8b1dbdc921bbde61382d62a2ae31de77b26621d7402ced','class',2,16,6,8);
CREATE TABLE truths (
  sha256  TEXT    PRIMARY KEY,            -- of classes
  samples INTEGER NOT NULL CHECK (samples > 0),
  classes BLOB    NOT NULL                -- as uvarints, in the order of the split
) STRICT, WITHOUT ROWID;
INSERT INTO "truths" VALUES('47dc540c94ceb704a23875c11273e16bb0b8a87aed84de911f2133568115f254',2,X'0100');
INSERT INTO "truths" VALUES('61e1d09d63c9c070c44fd81c3a8ff66ee8478a6dda7a3af5d33fb50cdb06c885',8,X'0001000001010001');
INSERT INTO "truths" VALUES('b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2',2,X'0001');
INSERT INTO "truths" VALUES('bbacd855fb1d7eb94cdda3b8ba09c12ca3c608980acb2667ebd6bd258c5bd63d',8,X'0001010000000101');
CREATE INDEX splits_dataset ON splits (dataset);
CREATE INDEX jobs_cell ON jobs (dataset, method, pretext, seed);
CREATE INDEX jobs_dataset_hash ON jobs (dataset_hash);
CREATE INDEX jobs_split_hash ON jobs (split_hash);
CREATE INDEX runs_job ON runs (job, started, uid);
CREATE INDEX runs_env ON runs (env);
CREATE INDEX dataset_names_dataset ON dataset_names (dataset);
CREATE INDEX split_names_split ON split_names (split);
CREATE INDEX runs_origin ON runs (origin) WHERE origin IS NOT NULL;
CREATE INDEX runs_replaces ON runs (replaces) WHERE replaces <> '';
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
CREATE INDEX predictions_hashes ON predictions (run, sha256, truth);
CREATE INDEX repetitions_uid ON repetitions (uid);
CREATE INDEX repetitions_env ON repetitions (env);
COMMIT;
PRAGMA application_id = 1397965900;
PRAGMA user_version = 4;
