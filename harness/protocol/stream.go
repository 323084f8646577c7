package protocol

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// streamVersion is part of every stream's key. A new version changes every split and every
// random start.
const streamVersion = "ssdl stream 1"

// Stream returns the random stream of a role ("split", "labels", "validation", "init",
// "method", ...) under a seed: ChaCha8 keyed with the SHA-256 of version, seed and role.
// Streams of different roles or seeds are independent: further draws from one change no other. The bits
// are the same on every machine.
func Stream(seed uint64, role string) *rand.Rand {
	key := binary.LittleEndian.AppendUint64([]byte(streamVersion), seed)
	return rand.New(rand.NewChaCha8(sha256.Sum256(append(key, role...))))
}
