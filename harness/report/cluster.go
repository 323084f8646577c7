package report

import (
	"fmt"

	"ssdl/harness/cluster"
)

// OfCluster is the document of the progress of the shards in a folder. It has no CSV.
func OfCluster(s cluster.Status) Document {
	g := Grid{Head: []string{"Shard", "Jobs", "Done", "Failed", "Task", "State", "Time", "Node"}, Align: "rrrrllrl", Groups: [][][]Item{nil}}
	var sum cluster.ShardStatus
	for _, k := range s.Shards {
		g.add(items(fmt.Sprint(k.Shard), fmt.Sprint(k.Jobs), fmt.Sprint(k.Done), fmt.Sprint(k.Failed), k.Task, k.State, k.Spent, k.Node)...)
		sum.Jobs, sum.Done, sum.Failed = sum.Jobs+k.Jobs, sum.Done+k.Done, sum.Failed+k.Failed
	}
	g.note(fmt.Sprintf("%s, submission %d: %d of %d jobs done, %d failed, %d missing.", s.Spec, s.Submission, sum.Done, sum.Jobs, sum.Failed, sum.Missing()))
	if s.Unknown != "" {
		g.note("Slurm was not asked: " + s.Unknown + ".")
	}
	return Document{Grids: []Grid{g}, Value: s}
}
