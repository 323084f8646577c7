package executor

import (
	"ssdl/harness/job"
	"ssdl/harness/protocol"
	"ssdl/methods"
	"ssdl/methods/catalog"
)

// StageKeys lists the stages that a job computes if none is cached.
func StageKeys(in Input) ([]string, error) {
	v := in.data().View(in.Job.Seed, in.Job.Eval == job.EvalVal)
	scope := in.scope() + "/"
	if in.Job.Score == job.ScoreTransductive {
		scope += protocol.TransductivePrefix
	}
	labelled := len(v.Labels) - len(v.Hidden())
	var keys []string
	add := func(part job.Part) error {
		if !part.FromCatalog() {
			return nil
		}
		e, err := catalog.Lookup(part.Name)
		if err != nil {
			return err
		}
		m, err := e.Build(part.Params)
		if err != nil {
			return err
		}
		if staged, ok := m.(methods.Staged); ok {
			for _, k := range staged.Stages(in.Set.Dim(), labelled) {
				keys = append(keys, scope+k)
			}
		}
		return nil
	}
	if p := in.Job.Pretext; p.Name != "" {
		key, err := in.pretextKey()
		if err != nil {
			return nil, err
		}
		keys = append(keys, scope+key)
		if err := add(p); err != nil {
			return nil, err
		}
	}
	if m := in.Job.Method; m.Name != "" {
		return keys, add(m)
	}
	return keys, nil
}

// Bytes estimates the memory in bytes that a run needs beyond the data set: its own copy of the columns,
// and the estimates of method and pretext.
func (in Input) Bytes() int64 {
	dim, n, m := in.Set.Dim(), len(in.Split.Train), len(in.Split.Test)
	bytes := int64(8 * dim * (n + m))
	if in.Job.Pretext.Name == "" { // it learns from the labelled samples alone
		n = 0
		for _, keeps := range in.Split.Labelled {
			if keeps {
				n++
			}
		}
	}
	for _, part := range []job.Part{in.Job.Method, in.Job.Pretext} {
		if part.Name == "" {
			continue
		}
		if e, err := catalog.Lookup(part.Name); err == nil {
			if built, err := e.Build(part.Params); err == nil {
				if s, ok := built.(methods.Sizer); ok {
					bytes += s.Bytes(dim, n, m, len(in.Set.Classes))
				}
			}
		}
	}
	return bytes
}
