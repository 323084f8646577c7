package results

import (
	"context"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/metric"
	"ssdl/harness/store"
)

// RunList is a part of the runs of a store, the last recorded first.
type RunList struct {
	All  int         `json:"all"` // number of all selected runs
	Runs []ListedRun `json:"runs"`
}

// ListedRun is a run of a list.
type ListedRun struct {
	UID     string       `json:"uid"`
	Dataset string       `json:"dataset"`
	Method  string       `json:"method,omitempty"`
	Pretext string       `json:"pretext,omitempty"`
	Seed    uint64       `json:"seed"`
	Purpose string       `json:"purpose"` // Report or Tune
	Status  store.Status `json:"status"`
	Error   string       `json:"error,omitempty"`
	// Fault is set if the run is not as it was recorded.
	Fault   *store.Fault `json:"fault,omitempty"`
	Started time.Time    `json:"started"`
	Wall    float64      `json:"wall_seconds"`
	// Metric is the metric to show, Value in its unit; nil without a value.
	Metric Metric   `json:"metric"`
	Value  *float64 `json:"value,omitempty"`
}

// ListRuns lists runs of a store, with the default metric, or the loss for runs of a pretext alone.
func ListRuns(ctx context.Context, st *store.Store, l store.Listing) (RunList, error) {
	loss := metric.Names(metric.PseudoLabels)[0]
	l.Metrics = []string{metric.Default, loss}
	runs, all, err := st.List(ctx, l)
	if err != nil {
		return RunList{}, err
	}
	out := RunList{All: all, Runs: make([]ListedRun, len(runs))}
	byMethod, byPretext := MetricOf(metric.Default), MetricOf(loss)
	for i, r := range runs {
		is := ListedRun{
			UID: r.UID, Dataset: r.Dataset, Method: r.Method, Pretext: r.Pretext, Seed: r.Seed, Purpose: Report,
			Status: r.Status, Error: r.Error, Fault: r.Fault, Started: r.Started, Wall: r.Wall.Seconds(), Metric: byMethod,
		}
		if r.Eval == job.EvalVal {
			is.Purpose = Tune
		}
		if r.Method == "" {
			is.Metric = byPretext
		}
		if v, ok := r.Metrics[is.Metric.Name]; ok {
			v = is.Metric.Shown(v)
			is.Value = &v
		}
		out.Runs[i] = is
	}
	return out, nil
}
