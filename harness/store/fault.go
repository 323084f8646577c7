package store

import (
	"fmt"
	"strconv"
)

// Fault is a record that is not as it was written: the file was edited, or its disk is damaged. It is an error.
type Fault struct {
	Table string `json:"table"`          // name in SQL, "runs" or "jobs", or "file" for the whole file
	ID    string `json:"id,omitempty"`   // of the row: the uid of a run, the key of a job, a hash or a name
	What  string `json:"what"`           // what differs: "record hash", "metric accuracy"
	Is    string `json:"is"`             // what the file says
	Want  string `json:"want,omitempty"` // what it should say; empty if unknown
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

// plain makes text from a file safe for a terminal: one line of at most 200 bytes.
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
