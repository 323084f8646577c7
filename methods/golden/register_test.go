package golden

import "ssdl/methods/linalg"

func init() { linalg.Register() }
