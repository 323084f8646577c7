package web

import (
	"context"
	"net/url"
	"strconv"

	"ssdl/harness/results"
	"ssdl/harness/store"
)

// runsData is a page of the list of runs.
type runsData struct {
	results.RunList
	Dataset, Part, Status string
	Datasets              []string
	Statuses              []store.Status
	From, To              int
	Newer, Older          string // addresses; "" at the ends
}

// runsAPage is the number of runs per page.
const runsAPage = 200

func (v view) runsPage(ctx context.Context, query url.Values) (page, error) {
	p := page{Title: "Runs", Section: "/runs", Template: "runs"}
	st, err := v.open(ctx)
	if err != nil || st == nil {
		p.Data = runsData{}
		return p, err
	}
	from, err := strconv.Atoi(query.Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	d := runsData{Dataset: query.Get("dataset"), Part: query.Get("part"), Status: query.Get("status"), From: from}
	d.Statuses = []store.Status{store.StatusOK, store.StatusError, store.StatusPanic, store.StatusTimeout, store.StatusInterrupted, store.StatusMemory}
	sets, err := st.Datasets(ctx)
	if err != nil {
		return page{}, err
	}
	for _, s := range sets {
		d.Datasets = addOnce(d.Datasets, s.Name)
	}
	if d.RunList, err = results.ListRuns(ctx, st, store.Listing{Dataset: d.Dataset, Part: d.Part, Status: store.Status(d.Status), Offset: from, Limit: runsAPage}); err != nil {
		return page{}, err
	}
	d.To = from + len(d.Runs)
	at := func(from int) string {
		q := url.Values{}
		for name, value := range map[string]string{"dataset": d.Dataset, "part": d.Part, "status": d.Status} {
			if value != "" {
				q.Set(name, value)
			}
		}
		if from > 0 {
			q.Set("from", strconv.Itoa(from))
		}
		return "/runs?" + q.Encode()
	}
	if from > 0 {
		d.Newer = at(max(0, from-runsAPage))
	}
	if d.To < d.All {
		d.Older = at(d.To)
	}
	p.Data = d
	return p, nil
}
