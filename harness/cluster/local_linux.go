package cluster

import "golang.org/x/sys/unix"

// networkTypes names network file systems by the magic number of statfs.
var networkTypes = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS",
	0x19830326: "BeeGFS", 0x00c36400: "Ceph", 0x5346414f: "AFS", 0x6b414653: "AFS", 0x7461636f: "OCFS2", 0x01161970: "GFS2",
	0xaad7aaea: "PanFS", 0x564c: "NCP", 0x20030528: "OrangeFS",
}

// fileSystem is the magic number of the file system at path.
var fileSystem = func(path string) (uint32, error) {
	var st unix.Statfs_t
	err := unix.Statfs(path, &st)
	return uint32(st.Type), err
}

// networkFileSystem names the network file system at path; empty if it is local.
func networkFileSystem(path string) (string, error) {
	magic, err := fileSystem(path)
	return networkTypes[magic], err
}
