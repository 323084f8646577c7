package pretext

import "fmt"

// The keys of what the pretexts share. Each has the parameters that its stage depends on, and no
// others.

func neighboursKey(k int, meanDistance bool) string {
	return fmt.Sprintf("pretext/neighbours k=%d mean=%t", k, meanDistance)
}

func hypergraphKey(k int, bandwidth string) string {
	return fmt.Sprintf("pretext/hypergraph k=%d bandwidth=%s", k, bandwidth)
}

func (m GL) graphKey() string {
	return fmt.Sprintf("pretext/graph %s k=%d sigma=%g", m.Graph, m.K, m.Sigma)
}

// similarity names the graph of the embedding: that of the hyperedges or that of the vertices.
func (m PAHL) similarity() string {
	if m.Operator == "vertex" {
		return "theta"
	}
	return "psi"
}

func (m PAHL) eigenpairsKey() string {
	return fmt.Sprintf("pretext/eigenpairs k=%d graph=%s m=%d", m.K, m.similarity(), m.M)
}

func (m PAHL) embeddingKey() string {
	return fmt.Sprintf("pretext/embedding k=%d graph=%s m=%d p=%g t=%d step=%s beta=%g gradient=%s retraction=%s deflate=%t",
		m.K, m.similarity(), m.M, m.P, m.T, m.Step, m.Beta, m.Gradient, m.Retraction, m.Deflate)
}

// Stages lists the keys of what GL shares.
func (m GL) Stages(_, _ int) []string {
	return []string{neighboursKey(m.K, false), m.graphKey()}
}

// Stages lists the keys of what HL shares.
func (m HL) Stages(_, _ int) []string {
	return []string{neighboursKey(m.K, m.Bandwidth == "mean"), hypergraphKey(m.K, m.Bandwidth)}
}

// Stages lists the keys of what pAHL shares.
func (m PAHL) Stages(_, _ int) []string {
	keys := []string{neighboursKey(m.K, false), hypergraphKey(m.K, "unit")}
	if m.Operator != "literal" {
		keys = append(keys, m.eigenpairsKey(), m.embeddingKey())
	}
	return keys
}
