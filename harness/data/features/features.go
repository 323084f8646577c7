// Package features computes feature sets from photographs. It finds the images of a folder and
// their classes, decodes and crops them, runs them through a convolutional network with ONNX
// Runtime, and writes a folder that harness/data reads. It trains nothing and knows no method.
//
// The stages of an image:
//
//	Scan ─► decode (in parallel) ─► crop ─► batch ─► network ─► journal ─► features.npy
//
// Images have a fixed order. A batch takes the next images in that order that can be decoded.
// Each finished batch is appended to a journal in the output folder. A killed extraction resumes
// after the last complete batch and ends with the same bytes. An unusable image is left out and
// listed with the reason.
package features

// Skip is a file that becomes no sample, with the reason.
type Skip struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
	SHA256 string `json:"sha256,omitempty"` // if the file can be read
}
