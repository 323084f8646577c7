package datastats

import "ssdl/methods/linalg"

func init() { linalg.Register() }
