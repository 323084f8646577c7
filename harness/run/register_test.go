package run

import "ssdl/methods/linalg"

func init() { linalg.Register() }
