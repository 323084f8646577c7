// Package features makes feature sets from photographs: it finds the images of a folder
// and their classes, decodes and crops them, runs them through a convolutional network
// with ONNX Runtime and writes a folder that harness/data reads. It trains nothing and
// knows no method.
//
// The way of an image:
//
//	Scan ─► decode (in parallel) ─► crop ─► batch ─► network ─► journal ─► features.npy
//
// Images are taken in one fixed order, and a batch is the next images of that order that
// could be decoded. Every finished batch is appended to a journal in the output folder,
// so that an extraction that was killed goes on behind the last whole batch and ends with
// the bytes of one that was not. One bad image stops nothing: it is left out and listed
// with its reason.
package features

// Skip is a file that gave no sample, and why.
type Skip struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
	SHA256 string `json:"sha256,omitempty"` // where the file could be read
}
