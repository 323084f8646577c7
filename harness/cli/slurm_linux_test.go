package cli

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ssdl/harness/cluster"
)

// slurm is a controller and a node of Slurm on this machine, for one test.
type slurm struct {
	stress
	conf string
}

// The directives that follow let tasks start and end at once, and tell nobody's account.
const slurmConf = `ClusterName=ssdl
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=%[2]s
SlurmdUser=%[2]s
AuthType=auth/none
AuthInfo=cred_expire=1
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
StateSaveLocation=%[5]s/state
SlurmdSpoolDir=%[5]s/spool
SlurmctldPidFile=%[5]s/ctld.pid
SlurmdPidFile=%[5]s/d.pid
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
KillWait=1
MaxArraySize=11
ReturnToService=2
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startSlurm starts Slurm with four processors and MaxArraySize=11, or skips the test.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster on one machine takes half a minute")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin") // where Debian has the daemons
	for _, program := range []string{"slurmctld", "slurmd", "sbatch", "squeue", "scontrol"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: apt-get install slurmctld slurmd slurm-client", program)
		}
	}
	if plugins, err := filepath.Glob("/usr/lib/*/slurm*/auth_none.so"); err != nil || len(plugins) == 0 {
		t.Skip("Slurm is without its plugin auth/none here: a cluster of one machine needs it")
	}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	dir := t.TempDir()
	s := &slurm{stress: stress{t: t, dir: t.TempDir()}, conf: filepath.Join(dir, "slurm.conf")}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf(slurmConf, host, who.Username, freePort(t), freePort(t), dir)
	if err := os.WriteFile(s.conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", s.conf)
	var logs []*bytes.Buffer
	for _, args := range [][]string{{"slurmctld", "-i", "-D", "-f", s.conf}, {"slurmd", "-D", "-f", s.conf, "-N", host}} {
		daemon := exec.Command(args[0], args[1:]...)
		log := &bytes.Buffer{}
		daemon.Stdout, daemon.Stderr = log, log
		logs = append(logs, log)
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			daemon.Process.Signal(syscall.SIGTERM)
			daemon.Wait()
		})
	}
	t.Cleanup(func() { // before the daemons end, so that no task outlives them
		exec.Command("scancel", "--user="+who.Username).Run()
		for range 50 {
			if out, err := exec.Command("squeue", "--noheader").Output(); err != nil || len(out) == 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	idle := s.eventually(20*time.Second, func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	if !idle {
		t.Fatalf("Slurm does not start:\n%s", bytes.Join([][]byte{logs[0].Bytes(), logs[1].Bytes()}, nil))
	}
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// eventually waits until is reports true.
func (s *slurm) eventually(most time.Duration, is func() bool) bool {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// call runs a program of Slurm.
func (s *slurm) call(args ...string) {
	s.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// drained waits until no task is pending or running.
func (s *slurm) drained() {
	s.t.Helper()
	var last []byte
	if !s.eventually(3*time.Minute, func() bool {
		out, err := exec.Command("squeue", "--noheader").Output()
		last = out
		return err == nil && len(out) == 0
	}) {
		s.t.Fatalf("tasks are still in the queue:\n%s", last)
	}
}

// process waits until a task computes, and returns the id of its process.
func (s *slurm) process(array string, index int) int {
	s.t.Helper()
	log := filepath.Join(s.dir, "shared", "logs", fmt.Sprintf("%s_%d.log", array, index))
	pid := 0
	if !s.eventually(2*time.Minute, func() bool {
		if text, err := os.ReadFile(log); err != nil || !bytes.Contains(text, []byte("runs to do")) {
			return false
		}
		all, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			s.t.Fatal(err)
		}
		for _, path := range all {
			env, err := os.ReadFile(path)
			line, err2 := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if err == nil && err2 == nil && bytes.Contains(line, []byte("--shard")) && bytes.Contains(env, []byte("\x00SLURM_CONF="+s.conf+"\x00")) &&
				bytes.Contains(env, []byte("\x00SLURM_ARRAY_JOB_ID="+array+"\x00")) && bytes.Contains(env, fmt.Appendf(nil, "\x00SLURM_ARRAY_TASK_ID=%d\x00", index)) {
				pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
				return err == nil
			}
		}
		return false
	}) {
		text, _ := os.ReadFile(log)
		s.t.Fatalf("task %s_%d does not run:\n%s", array, index, text)
	}
	return pid
}

func (s *slurm) signal(pid int, what syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(pid, what); err != nil {
		s.t.Fatalf("signal %v to %d: %v", what, pid, err)
	}
}

// signalled reports whether a stopped process has received a signal: the signal is pending, or the process has
// continued or ended.
func (s *slurm) signalled(pid int, what syscall.Signal) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || !bytes.Contains(text, []byte("(stopped)")) {
		return true
	}
	for line := range strings.Lines(string(text)) {
		if mask, ok := strings.CutPrefix(line, "ShdPnd:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && bits>>(what-1)&1 == 1
		}
	}
	return false
}

func (s *slurm) status() cluster.Status {
	s.t.Helper()
	var out cluster.Status
	if err := json.Unmarshal(s.run("status", "--slurm", "shared", "--format", "json"), &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *slurm) submission() cluster.Submission {
	s.t.Helper()
	out, err := cluster.Folder(filepath.Join(s.dir, "shared")).Submission()
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *slurm) spec(text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "spec.yaml"), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// sameTable compares the tables of two results folders, and counts the runs of the first.
func (s *slurm) sameTable(a, b, seeds string, jobs int) {
	s.t.Helper()
	for _, format := range []string{"text", "md", "html"} { // the other forms name runs
		report := func(results string) []byte {
			return s.run("report", "spec.yaml", "--seeds", seeds, "--results", results, "--format", format)
		}
		got, want := report(a), report(b)
		if !bytes.Equal(got, want) {
			s.t.Errorf("the table is\n%s\nand that of a local run\n%s", got, want)
		}
	}
	if n := len(s.finished(a)); n != jobs {
		s.t.Errorf("%d finished runs of %d jobs", n, jobs)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(s.dir, a, "runs.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var runs int
	if err := db.QueryRow("SELECT count(*) FROM runs").Scan(&runs); err != nil || runs != jobs {
		s.t.Errorf("%d runs of %d jobs, %v", runs, jobs, err)
	}
}

const gridSpec = `name: grid
datasets: [synth8]
seeds: 1000..1003
split: {kind: class, train: 0.7, labels: 0.4}
rows:
  - {id: slow, method: dksvd, params: {iterations: 200}}
  - {id: crc, method: crc, params: {lambda: {log2: [-8, 0]}}}
`

// A grid of 40 jobs goes through Slurm as two arrays. One task is killed, one reaches its time limit and one is
// requeued: a second submission runs only the missing jobs, and the tables equal those of a local run.
func TestSlurmGrid(t *testing.T) {
	s := startSlurm(t)
	s.spec(gridSpec)
	submit := []string{"submit", "spec.yaml", "--slurm", "shared", "--results", "results", "--seeds", "1000..1003", "--cpus", "1", "--shards", "20"}
	if out := s.run(append(submit, "--dry-run")...); !bytes.Contains(out, []byte("40 jobs in 20 shards")) {
		t.Fatalf("a dry run says\n%s", out)
	}
	s.run(submit...)
	arrays := s.submission().Arrays
	if len(arrays) != 2 || arrays[0].Tasks != 10 || arrays[1].Tasks != 10 || arrays[1].Offset != 10 {
		t.Fatalf("MaxArraySize=11 and 20 shards, and the arrays are %+v", arrays)
	}
	// The slow run of each seed is the first of its group of 5 shards, and of its shard.
	first, second := arrays[0].ID, arrays[1].ID
	killed := s.process(first, 1)
	s.signal(killed, syscall.SIGSTOP)
	late := s.process(first, 6)
	s.signal(late, syscall.SIGSTOP)
	requeued := s.process(second, 1)
	s.signal(requeued, syscall.SIGSTOP)

	cmd := s.command(submit...)
	if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("still wait or run")) {
		t.Errorf("a second submission while tasks run: %v, %s", err, out)
	}
	s.signal(killed, syscall.SIGKILL)
	s.call("scontrol", "update", "jobid="+first+"_6", "EndTime=now+100seconds")
	if !s.eventually(time.Minute, func() bool { return s.signalled(late, syscall.SIGTERM) }) {
		t.Fatal("no SIGTERM before the time limit")
	}
	syscall.Kill(late, syscall.SIGCONT) // unless Slurm did so, and it has ended
	s.call("scontrol", "requeue", second+"_1")
	if !s.eventually(time.Minute, func() bool { // Slurm lets it wait for two minutes
		out, err := exec.Command("squeue", "--noheader", "--array", "--jobs="+second+"_1", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "PENDING"
	}) {
		t.Fatal("the requeued task is not in the queue again")
	}
	s.call("scontrol", "update", "jobid="+second+"_1", "StartTime=now")
	s.drained()

	done := map[int]int{}
	for _, k := range s.status().Shards {
		if done[k.Shard] = k.Done; k.Jobs != 2 || k.Failed != 0 || k.Task == "" || k.State == "" {
			t.Errorf("shard %+v", k)
		}
	}
	for k, want := range map[int]int{1: 0, 6: 1, 11: 2} {
		if done[k] != want {
			t.Errorf("shard %d has done %d jobs, want %d", k, done[k], want)
		}
	}
	log, err := os.ReadFile(filepath.Join(s.dir, "shared", "logs", first+"_6.log"))
	if err != nil || !bytes.Contains(log, []byte("finishing the runs in flight")) {
		t.Errorf("the task at its time limit says, %v:\n%s", err, log)
	}
	log, err = os.ReadFile(filepath.Join(s.dir, "shared", "logs", second+"_1.log"))
	if n := bytes.Count(log, []byte("runs to do: ")); err != nil || n != 2 {
		t.Errorf("the requeued task began %d times, %v:\n%s", n, err, log)
	}

	if out := s.run(submit...); !bytes.Contains(out, []byte("grid: 3 jobs in 3 shards")) {
		t.Errorf("the second submission says\n%s", out)
	}
	s.drained()
	if out := s.run(submit...); !bytes.Contains(out, []byte("nothing to submit")) {
		t.Errorf("the third submission says\n%s", out)
	}
	s.run("run", "spec.yaml", "--results", "local", "--seeds", "1000..1003")
	s.sameTable("results", "local", "1000..1003", 40)
}

// A job that waits for the tuning shards submits the final jobs, even if a shard fails.
func TestSlurmTuning(t *testing.T) {
	s := startSlurm(t)
	s.spec(`name: tuned
datasets: [synth8]
seeds: 1000..1001
split: {kind: class, train: 0.7, labels: 0.4}
rows:
  - method: crc
    tune: {lambda: {log2: [-6, 0]}}
  - {id: slow, method: dksvd, params: {iterations: 200}}
`)
	submit := []string{"submit", "spec.yaml", "--slurm", "shared", "--results", "results", "--cpus", "1", "--shards", "16"}
	s.run(submit...)
	first := s.submission()
	if len(first.Arrays) != 2 || first.Merge == "" {
		t.Fatalf("submitted: %+v", first)
	}
	s.signal(s.process(first.Arrays[0].ID, 8), syscall.SIGKILL) // the slow run of the first seed
	s.drained()
	second := s.submission()
	if n := second.Shards(); second.Submission != 2 || n != 2 || second.Merge != "" {
		logs, _ := filepath.Glob(filepath.Join(s.dir, "shared", "logs", "merge-*"))
		for _, path := range logs {
			text, _ := os.ReadFile(path)
			t.Logf("%s", text)
		}
		t.Fatalf("after the tuning: %+v", second)
	}
	if out := s.run(submit...); !bytes.Contains(out, []byte("tuned: 1 job in 1 shard")) {
		t.Errorf("the next submission says\n%s", out)
	}
	s.drained()
	s.run(submit...)
	s.run("run", "spec.yaml", "--results", "local")
	s.sameTable("results", "local", "1000..1001", 14+2+2)
}
