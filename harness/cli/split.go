package cli

import (
	"fmt"

	"ssdl/harness/data"
	"ssdl/harness/spec"
)

// splitNotes says which splits stand behind a table.
func splitNotes(s *spec.Spec) []string {
	seeds := spec.FormatSeeds(s.Seeds)
	switch {
	case s.Split.Kind == "class" && len(s.LabelRates) > 0:
		return []string{fmt.Sprintf("Seeds %s; %g %% of each class for training, of these as many labelled as the row says.", seeds, 100*s.Split.Train)}
	case s.Split.Kind == "class":
		return []string{fmt.Sprintf("Seeds %s; %g %% of each class for training, %g %% of these labelled.", seeds, 100*s.Split.Train, 100*s.Split.Labels)}
	case s.Split.Kind == "official" && len(s.LabelRates) > 0:
		return []string{fmt.Sprintf("Seeds %s; the official split for all, of each class as many training samples labelled as the row says.", seeds)}
	case s.Split.Kind == "official":
		return []string{fmt.Sprintf("Seeds %s; the official split for all, %g %% of its training samples of each class labelled.", seeds, 100*s.Split.Labels)}
	case s.Split.PerSeed():
		return []string{fmt.Sprintf("Seeds %s; each has a split of its own, %s.", seeds, s.Split.File)}
	case s.Split.Kind == "file" && len(s.Seeds) > 1:
		return []string{fmt.Sprintf("One split for all seeds %s: %s. The standard deviation is that of what methods draw, not of splits.", seeds, s.Split.File)}
	case s.Split.Kind == "file":
		return []string{fmt.Sprintf("Seed %s; the split is that of %s.", seeds, s.Split.File)}
	}
	return nil
}

// indexRatio is testToTrain where each seed has an index file: the largest of them.
func indexRatio(s *spec.Spec) (ratio float64, err error) {
	for _, seed := range s.Seeds {
		test, labelled, err := data.SplitSizes(s.Split.Path(seed))
		if err != nil {
			return 0, fmt.Errorf("tests between methods need the sizes of the splits: %w", err)
		}
		ratio = max(ratio, float64(test)/float64(labelled))
	}
	return ratio, nil
}
