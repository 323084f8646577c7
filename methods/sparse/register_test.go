package sparse

import "ssdl/methods/linalg"

func init() { linalg.Register() }
