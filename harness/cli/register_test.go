package cli

import "ssdl/methods/linalg"

func init() { linalg.Register() }
