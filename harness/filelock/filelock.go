// Package filelock locks files between processes, without waiting.
package filelock
