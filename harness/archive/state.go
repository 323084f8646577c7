package archive

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
)

// resolver is the address of Software Heritage, which an identifier follows.
const resolver = "https://archive.softwareheritage.org/"

// state identifies the sources that a program was built from.
type state struct {
	commit string // hash of git; empty if unknown
	// change identifies sources that differ from the commit, or whose commit is unknown, by a hash of the
	// difference or of the program. It is empty if the sources are those of the commit, or nothing is known.
	change string
}

// stateOf reads the state of a program from an environment.
func stateOf(env map[string]string) state {
	s := state{commit: commit(env)}
	switch {
	case env["dirty"] != "": // of older programs
		s.change = "dirty." + first(env["dirty"])
	case env["vcs.modified"] == "true":
		s.change = strings.TrimSuffix("modified."+first(env["executable"]), ".")
	case s.commit == "" && env["executable"] != "":
		s.change = "executable." + first(env["executable"])
	}
	return s
}

func first(hash string) string { return hash[:min(len(hash), 12)] }

// version names a state; empty if nothing is known.
func (s state) version() string { return strings.Trim(s.commit+"+"+s.change, "+") }

func (s state) compare(o state) int {
	return cmp.Or(cmp.Compare(s.commit, o.commit), cmp.Compare(s.change, o.change))
}

// revision is the Software Heritage identifier of the commit; empty if there is none.
func (s state) revision() string {
	if raw, err := hex.DecodeString(s.commit); err != nil || len(raw) != sha1.Size {
		return ""
	}
	return "swh:1:rev:" + s.commit
}

// id is the @id of the program in the metadata: an address if the sources are those of a commit.
func (s state) id() string {
	if r := s.revision(); r != "" && s.change == "" {
		return resolver + r
	}
	return strings.TrimSuffix("#ssdl-"+s.version(), "-")
}

// describe makes the entities of the program and, if its sources differ from a commit, of that commit.
func (s state) describe(platforms []string) []entity {
	e := entity{
		"@id": s.id(), "@type": "SoftwareApplication", "name": "ssdl",
		"description":         "Re-runs the paper \"SSDL: Self-Supervised Dictionary Learning\" (ICME 2021) with its baselines.",
		"softwareVersion":     cmp.Or(s.version(), "not recorded"),
		"runtimePlatform":     compact(platforms),
		"applicationCategory": "scientific",
		"url":                 any(ref(readmeFile)),
	}
	rev := s.revision()
	if rev == "" {
		return []entity{e}
	}
	e["url"] = resolver + rev
	if s.change == "" {
		e["identifier"] = rev
		return []entity{e}
	}
	base := entity{
		"@id": "#" + rev, "@type": "CreativeWork", "name": "Sources of ssdl", "version": s.commit, "identifier": rev, "url": resolver + rev,
		"description": "The commit that a program with modified sources is based on.",
	}
	e["isBasedOn"] = ref("#" + rev)
	return []entity{e, base}
}

// contentID is the Software Heritage identifier of a file: git's hash of its content.
func contentID(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return "swh:1:cnt:" + hex.EncodeToString(h.Sum(nil))
}

// shortHash is the first 12 digits of the hash in a Software Heritage identifier.
func shortHash(id string) string { return first(id[strings.LastIndexByte(id, ':')+1:]) }
