package represent

import "ssdl/methods/linalg"

func init() { linalg.Register() }
