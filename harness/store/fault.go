package store

import (
	"fmt"
	"strconv"
)

// Fault is a place where the file does not say what was recorded: it was changed behind the
// program's back, or its disk lost bits. It is an error too.
type Fault struct {
	Table string `json:"table"`          // as SQL calls it: "runs", "jobs", ...; "file" of the file as a whole
	ID    string `json:"id,omitempty"`   // of the row: the uid of a run, the key of a job, a hash or a name
	What  string `json:"what"`           // what differs: "record hash", "metric accuracy"
	Is    string `json:"is"`             // what the file says,
	Want  string `json:"want,omitempty"` // and what it should; empty if that is unknown
}

// rowNames are the words for a row of a table.
var rowNames = map[string]string{
	"runs": "run", "metrics": "metrics of run", "series": "series of run", "commands": "program of run", "predictions": "predictions of run", "jobs": "job", "envs": "environment", "truths": "list of true classes", "datasets": "data set",
	"splits": "split", "replaced": "superseded run", "origins": "origin", "repetitions": "repetition", "dataset_names": "name of a data set", "split_names": "name of a split",
}

func (f Fault) Error() string {
	where := f.Table
	if name, ok := rowNames[f.Table]; ok {
		where = name
	}
	if f.ID != "" {
		where += " " + plain(f.ID)
	}
	text := fmt.Sprintf("%s: its %s is %s", where, plain(f.What), plain(f.Is))
	if f.Want != "" {
		text += ", expected " + plain(f.Want)
	}
	return text + ": the file was changed"
}

// plain makes text that comes from a file fit for a terminal: on one line, and short.
func plain(text string) string {
	const longest = 200
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	if !isPlain(text) {
		return strconv.Quote(text)
	}
	return text
}
