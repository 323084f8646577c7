package executor

import "ssdl/methods/linalg"

func init() { linalg.Register() }
