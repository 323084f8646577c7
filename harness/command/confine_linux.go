package command

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	kernel "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// networkABI is the version of Landlock from which on it can forbid TCP.
const networkABI = 4

// sparePages is how much more memory a program may ask for than it may hold: libraries reserve what they
// never touch.
const sparePages = 256 << 20

// systemConfinement is what the kernel can keep a program from.
func systemConfinement() Confined {
	switch abi, err := kernel.LandlockGetABIVersion(); {
	case err != nil || abi < 1:
		return Unconfined
	case abi < networkABI:
		return Files
	}
	return FilesAndNetwork
}

// become restricts this process, as far as the kernel can, and executes the program. Landlock stays in
// force for everything that the program starts.
func become(r confinementRules, args []string) error {
	if systemConfinement() != Unconfined {
		// Of other processes, /proc would tell the environment.
		read := append(there("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/sys", "/proc/self", "/proc/sys"), installation(r.Program)...)
		rules := []landlock.Rule{
			landlock.RODirs(read...),
			landlock.ROFiles(there("/dev/random", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", r.Program)...),
			landlock.RWFiles(there("/dev/null", "/dev/zero", "/dev/full")...),
			landlock.RWDirs(r.Folder),
		}
		if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
			return fmt.Errorf("the program cannot be confined: %w", err)
		}
	}
	limits := map[int]int64{unix.RLIMIT_FSIZE: r.Written, unix.RLIMIT_CORE: 0}
	if r.Memory > 0 {
		limits[unix.RLIMIT_DATA] = r.Memory + sparePages // what is asked for at once; the rest is watched
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
