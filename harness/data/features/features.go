// Package features computes feature sets from photographs: it finds the images of a folder
// and their classes, decodes and crops them, runs them through a convolutional network
// with ONNX Runtime and writes a folder that harness/data reads. It trains nothing and
// knows no method.
//
// The stages of an image:
//
//	Scan ─► decode (in parallel) ─► crop ─► batch ─► network ─► journal ─► features.npy
//
// Images have a fixed order; a batch is the next images of that order that can be decoded.
// Every finished batch is appended to a journal in the output folder: a killed extraction
// resumes after the last complete batch and ends with the same bytes. An image that cannot be
// used is left out and listed with its reason.
package features

// Skip is a file that gives no sample, and the reason.
type Skip struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
	SHA256 string `json:"sha256,omitempty"` // if the file can be read
}
