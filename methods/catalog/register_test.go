package catalog_test

import "ssdl/methods/linalg"

func init() { linalg.Register() }
