-- Runs of programs from outside: how the program ended, what it was kept from, and what it printed.

-- The hash of the row in commands; empty if there is none.
ALTER TABLE runs ADD COLUMN command_hash TEXT NOT NULL DEFAULT '';

CREATE TABLE commands (
  run      INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  state    TEXT NOT NULL CHECK (state <> ''), -- ok, crashed, invalid output and so on
  confined TEXT NOT NULL,                     -- no, files, files and network
  stdout   BLOB NOT NULL,                     -- the end of what it printed, as UTF-8
  stderr   BLOB NOT NULL
) STRICT;
