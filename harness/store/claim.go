package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
)

// Claim reserves a job for this process, so that only one process runs it. It reports whether the job was
// free, and returns the function that releases it. The system releases it when the process ends, however it
// ends. A claim is a lock on one byte of a file beside the store; see claimOf.
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

// claimOf is the byte that claims of the job with this key lock: a 62-bit offset, which every system allows.
func claimOf(key string) int64 {
	h := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(h[:]) >> 2)
}
