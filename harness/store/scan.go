package store

import (
	"fmt"
	"math"
	"time"
)

// instant, seconds and orZero read the columns that SQLite has no type for.
type (
	instant time.Time
	seconds time.Duration
	orZero  int64
)

func (t *instant) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("a time is a %T", v)
	}
	parsed, err := time.Parse(stamp, s)
	*t = instant(parsed)
	return err
}

func (d *seconds) Scan(v any) error {
	f, ok := v.(float64)
	if !ok {
		return fmt.Errorf("a duration is a %T", v)
	}
	*d = seconds(math.Round(f * float64(time.Second)))
	return nil
}

func (n *orZero) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*n = 0
	case int64:
		*n = orZero(v)
	default:
		return fmt.Errorf("a count is a %T", v)
	}
	return nil
}
