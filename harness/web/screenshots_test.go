package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestScreenshots writes screenshots of pages to the folder $SSDL_SCREENSHOTS. $SSDL_SCREENSHOTS_RESULTS (a
// results folder) and $SSDL_SCREENSHOTS_PAGES (addresses) replace the store of the tests.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("SSDL_SCREENSHOTS")
	if dir == "" {
		t.Skip("SSDL_SCREENSHOTS names no folder for screenshots")
	}
	from, pages := os.Getenv("SSDL_SCREENSHOTS_RESULTS"), strings.Fields(os.Getenv("SSDL_SCREENSHOTS_PAGES"))
	args := []string{"--results", from}
	if from == "" {
		args = labArgs(t)
	}
	if len(pages) == 0 {
		pages = []string{"/", "/table/table1", "/cell/table1/crc/stanford40", "/readings/multiverse", "/figures", "/live", "/runs", "/data"}
	}
	address, b := serve(t, args...), newBrowser(t)
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.dress(width, scheme)
			for i, page := range pages {
				b.open(address + page)
				if what := eval[string](b, crowded); what != "" {
					t.Logf("%s at %d: %s", page, width, what)
				}
				png := run(b, chromedp.FullScreenshot(100))
				name := fmt.Sprintf("page-%02d-%d-%s.png", i, width, scheme)
				if err := os.WriteFile(filepath.Join(dir, name), png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	b.clean("screenshots")
}
