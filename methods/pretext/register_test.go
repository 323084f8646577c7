package pretext

import "ssdl/methods/linalg"

func init() { linalg.Register() }
