package features

import (
	"runtime"
	"runtime/debug"
)

// Recipe says how features are computed. Two extractions of the same images by the same recipe
// on the same kind of processor give the same bytes.
type Recipe struct {
	Model         Model             `json:"model"`
	Preprocessing Preprocessing     `json:"preprocessing"`
	Libraries     map[string]string `json:"libraries"`
}

func newRecipe(n *Net, p Preprocessing) Recipe {
	libraries := map[string]string{
		"go":          runtime.Version(), // its image/jpeg, image/png and image/gif decode
		"onnxruntime": n.Runtime,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			switch m.Path {
			case "golang.org/x/image", "github.com/yalue/onnxruntime_go":
				libraries[m.Path] = m.Version
			}
		}
	}
	return Recipe{n.Model, p, libraries}
}
