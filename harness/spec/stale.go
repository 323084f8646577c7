package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"ssdl/methods/catalog"
)

// NameKey is the hash of what was asked for, by name: the job without the hashes of its
// data and without versions. Jobs of one name key and different keys are the same
// question asked of other data or another version.
func (j Job) NameKey() string {
	raw, err := json.Marshal(struct {
		Dataset       string
		Split         Split
		Method        string
		Params        catalog.Values
		Pretext       string
		PretextParams catalog.Values
		Seed          uint64
		Eval, Score   string
	}{j.Dataset, j.Split, j.Method, j.Params, j.Pretext, j.PretextParams, j.Seed, j.Eval, j.Score})
	if err != nil {
		panic(fmt.Sprintf("spec: job %s holds values that no spec gives it: %v", j.Name(), err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Difference says in words why two identities of one name key are different jobs.
func Difference(was, is []byte) string {
	type half struct{ Version int }
	type identity struct {
		Dataset, Split  string
		Method, Pretext half
		MetricVersion   int `json:"metric_version"`
	}
	var a, b identity
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return "recorded in a form that cannot be read"
	}
	var out []string
	if a.Dataset != b.Dataset {
		out = append(out, "data changed")
	} else if a.Split != b.Split { // another data set has another split anyway
		out = append(out, "split changed")
	}
	for _, v := range []struct {
		what    string
		was, is int
	}{
		{"method", a.Method.Version, b.Method.Version},
		{"pretext", a.Pretext.Version, b.Pretext.Version},
		{"metric", a.MetricVersion, b.MetricVersion},
	} {
		if v.was != v.is {
			out = append(out, fmt.Sprintf("%s version %d -> %d", v.what, v.was, v.is))
		}
	}
	return strings.Join(out, ", ")
}
