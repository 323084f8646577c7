package dictionary

import "ssdl/methods/linalg"

func init() { linalg.Register() }
