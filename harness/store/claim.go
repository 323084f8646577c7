package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
)

// Claim reserves a job, so that of several processes that want to run it one does. It reports
// whether the job is ours, and if so how to give it back. The system gives it back when the process
// ends, however it ends. A claim is a lock on one byte of a file beside the store, at a place that
// the key of the job stands for.
func (s *Store) Claim(key string) (release func(), ok bool, err error) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	if s.claims == nil {
		if s.claims, err = os.OpenFile(s.abs+".claims", os.O_RDWR|os.O_CREATE, 0o666); err != nil {
			return nil, false, fmt.Errorf("store: %s: cannot reserve a job: %w", s.path, err)
		}
	}
	at := claimOf(key)
	if ok, err = lockByte(s.claims, at); err == nil && ok {
		err = writeHolder(s.claims, at)
	}
	if err != nil {
		return nil, false, fmt.Errorf("store: %s: cannot reserve a job: %w", s.path, err)
	}
	return func() { unlockByte(s.claims, at) }, ok, nil
}

// claimOf is the place that a key stands for, one that every system has.
func claimOf(key string) int64 {
	h := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(h[:]) >> 2)
}
