package features

// meta is the content of meta.json. Its first seven fields are common to all data sets; the others
// say how this one was made.
type meta struct {
	Samples int               `json:"samples"`
	Dim     int               `json:"dim"`
	Classes []string          `json:"classes"`
	Layout  string            `json:"layout"`
	Source  string            `json:"source"`
	Files   []string          `json:"files"` // of the samples, in their order
	SHA256  map[string]string `json:"sha256"`

	FileSHA256    []string    `json:"file_sha256"` // of Files
	OfficialSplit string      `json:"official_split,omitempty"`
	Images        string      `json:"images_layout"`
	Recipe                    // model, preprocessing, libraries
	Skipped       []Skip      `json:"skipped"`
	EmptyClasses  []string    `json:"classes_without_images,omitempty"`
	Duplicates    []Duplicate `json:"duplicates"`
	Dropped       []Dropped   `json:"dropped_duplicates,omitempty"`
}

func (e *extraction) meta(s *Summary, hashes map[string]string) meta {
	m := meta{
		Samples: s.Samples, Dim: s.Dim, Classes: s.Classes,
		Layout: "features.npy is samples x dim, float32, C order, raw (not l2-normalised) output of the network; labels.npy is int32, 0-based, index into classes",
		Source: "photographs, through " + printable(e.net.Model.File),
		SHA256: hashes,
		Images: e.src.Layout, Recipe: e.recipe,
		Skipped: s.Skipped, EmptyClasses: s.EmptyClasses, Duplicates: s.Duplicates, Dropped: s.Dropped,
	}
	if m.Skipped == nil {
		m.Skipped = []Skip{}
	}
	if m.Duplicates == nil {
		m.Duplicates = []Duplicate{}
	}
	if e.src.Official {
		m.OfficialSplit = "official_split.npy: int8, 1 = training, 2 = test"
	}
	for _, i := range s.kept {
		m.Files = append(m.Files, e.src.Images[i].Path)
		m.FileSHA256 = append(m.FileSHA256, e.records[i].SHA256)
	}
	return m
}
