// Package docs holds the pages that the program prints.
package docs

import _ "embed"

// Specs is the page on the grammar of specs, in Markdown.
//
//go:embed specs.md
var Specs string

// ExampleSpec is a commented spec, to be changed.
//
//go:embed example.yaml
var ExampleSpec string
