package archive

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// TrustedKeys are public keys whose signatures are accepted.
type TrustedKeys struct {
	keys  []trustedKey
	files []string
}

type trustedKey struct {
	key   ssh.PublicKey
	owner string
}

// ReadTrustedKeys reads public keys. A file has one on each line, in the form of KEY.pub or of an
// allowed_signers file of ssh-keygen: OWNERS [OPTIONS] KEY. It leaves out keys whose options exclude this use or
// this time.
func ReadTrustedKeys(paths ...string) (TrustedKeys, error) {
	t := TrustedKeys{files: paths}
	for _, file := range paths {
		raw, err := readKeyFile(file)
		if err != nil {
			return TrustedKeys{}, err
		}
		found := false
		number := 0
		for line := range bytes.Lines(raw) {
			number++
			line = bytes.TrimSpace(line)
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			found = true
			key, usable, err := parseTrustedKey(string(line), time.Now())
			if err != nil {
				return TrustedKeys{}, fmt.Errorf("%s:%d: %w", file, number, err)
			}
			if key.owner == "" {
				key.owner = file
			}
			if usable {
				t.keys = append(t.keys, key)
			}
		}
		if !found {
			return TrustedKeys{}, fmt.Errorf("%s has no public key: name a file KEY.pub, or an allowed_signers file", file)
		}
	}
	return t, nil
}

// asked reports whether a signature by one of the keys is required.
func (t TrustedKeys) asked() bool { return len(t.files) > 0 }

// owner is the owner of a key; empty if it is not trusted.
func (t TrustedKeys) owner(key ssh.PublicKey) string {
	for _, k := range t.keys {
		if bytes.Equal(k.key.Marshal(), key.Marshal()) {
			return k.owner
		}
	}
	return ""
}

// parseTrustedKey reads a line: "KEYTYPE BASE64 [COMMENT]", or the same after "OWNERS [OPTIONS]". The key is
// usable unless its options exclude this use or the time at.
func parseTrustedKey(line string, at time.Time) (key trustedKey, usable bool, err error) {
	owner, rest := "", line
	if fields := strings.Fields(line); len(fields) < 2 || !isKey(fields[0], fields[1]) {
		owner, rest, _ = strings.Cut(line, " ")
	}
	public, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(rest))
	if err != nil {
		return key, false, fmt.Errorf("not a public ssh key: %w", err)
	}
	if owner == "" {
		owner = comment
	}
	key = trustedKey{public, strings.Trim(owner, `"`)}
	usable = true
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "namespaces":
			usable = usable && matches(value, namespace)
		case "valid-after", "valid-before":
			limit, err := parseTime(value)
			if err != nil {
				return key, false, fmt.Errorf("option %s: %w", name, err)
			}
			if strings.EqualFold(name, "valid-after") {
				usable = usable && !at.Before(limit)
			} else {
				usable = usable && at.Before(limit)
			}
		case "cert-authority":
			return key, false, fmt.Errorf("option %s: certificates are not supported, list the keys themselves", name)
		default:
			return key, false, fmt.Errorf("unknown option %q", option)
		}
	}
	return key, usable, nil
}

// isKey reports whether two fields are the type and the content of a key.
func isKey(kind, content string) bool {
	raw, err := base64.StdEncoding.DecodeString(content)
	if err != nil {
		return false
	}
	key, err := ssh.ParsePublicKey(raw)
	return err == nil && key.Type() == kind
}

// matches reports whether a text matches a list of ssh patterns, and no pattern with "!" excludes it.
func matches(patterns, text string) bool {
	matched := false
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern, excludes := strings.CutPrefix(pattern, "!")
		if ok, err := path.Match(pattern, text); err != nil || !ok {
			continue
		}
		if excludes {
			return false
		}
		matched = true
	}
	return matched
}

// parseTime reads YYYYMMDD or YYYYMMDDHHMM[SS], in local time or, with a Z, in UTC.
func parseTime(text string) (time.Time, error) {
	digits, utc := strings.CutSuffix(text, "Z")
	where := time.Local
	if utc {
		where = time.UTC
	}
	for _, form := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(form) == len(digits) {
			return time.ParseInLocation(form, digits, where)
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time in the form YYYYMMDD[HHMM[SS]][Z]", text)
}
