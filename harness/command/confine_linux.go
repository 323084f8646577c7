package command

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	kernel "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// networkABI is the first version of Landlock that can forbid TCP.
const networkABI = 4

// sparePages is how many bytes more than its bound a program may allocate: libraries reserve memory that they
// never use.
const sparePages = 256 << 20

// systemConfinement is the strongest confinement of this kernel.
func systemConfinement() Confined {
	switch abi, err := kernel.LandlockGetABIVersion(); {
	case err != nil || abi < 1:
		return Unconfined
	case abi < networkABI:
		return Files
	}
	return FilesAndNetwork
}

// become confines this process, as far as the kernel can, and replaces it by the program. Landlock also binds
// every process that the program starts.
func become(r confinementRules, args []string) error {
	if systemConfinement() != Unconfined {
		// Not all of /proc: it shows the environments of other processes.
		read := append(existing("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/sys", "/proc/self", "/proc/sys"), installation(r.Program)...)
		rules := []landlock.Rule{
			landlock.RODirs(read...),
			landlock.ROFiles(existing("/dev/random", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", r.Program)...),
			landlock.RWFiles(existing("/dev/null", "/dev/zero", "/dev/full")...),
			landlock.RWDirs(r.Folder),
		}
		if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
			return fmt.Errorf("the program cannot be confined: %w", err)
		}
	}
	limits := map[int]int64{unix.RLIMIT_FSIZE: r.Written, unix.RLIMIT_CORE: 0}
	if r.Memory > 0 {
		limits[unix.RLIMIT_DATA] = r.Memory + sparePages // refuses a large allocation; watch bounds the sum
	}
	for what, most := range limits {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}); err != nil {
			return fmt.Errorf("the program cannot be limited: %w", err)
		}
	}
	if err := unix.Exec(args[0], args, os.Environ()); err != nil {
		return fmt.Errorf("%s cannot be started: %w", args[0], err)
	}
	return nil
}
