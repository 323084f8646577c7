// Package filelock keeps two processes from working on the same files. It waits for nobody.
package filelock
