package features

import (
	"runtime"
	"runtime/debug"
)

// Recipe says how features are computed. The same images, recipe and kind of processor give the
// same bytes.
type Recipe struct {
	Model         Model             `json:"model"`
	Preprocessing Preprocessing     `json:"preprocessing"`
	Libraries     map[string]string `json:"libraries"`
}

func newRecipe(n *Net, p Preprocessing) Recipe {
	libraries := map[string]string{
		"go":          runtime.Version(), // for its image/jpeg, image/png and image/gif
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
