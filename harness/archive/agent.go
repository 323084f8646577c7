package archive

import (
	"fmt"
	"net/url"
	"strings"
)

// Agent is a person or an organisation. The zero value is not named.
type Agent struct {
	Name string
	URL  string // a page about the agent; an ORCID, https://orcid.org/..., for a person
}

// ParseAgent reads "NAME <URL>".
func ParseAgent(text string) (Agent, error) {
	name, rest, _ := strings.Cut(text, "<")
	address, closed := strings.CutSuffix(strings.TrimSpace(rest), ">")
	a := Agent{strings.TrimSpace(name), address}
	u, err := url.Parse(address)
	if !closed || a.Name == "" || err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return Agent{}, fmt.Errorf("got %q, expected \"NAME <URL>\" with an address that begins with https://", text)
	}
	return a, nil
}

// IsPerson reports whether the address is an ORCID.
func (a Agent) IsPerson() bool { return strings.HasPrefix(a.URL, "https://orcid.org/") }

func (a Agent) id() string {
	if a.URL == "" {
		return "#unnamed"
	}
	return a.URL
}

// publisher is the publisher of an archive: by default its author.
func (p Package) publisher() Agent {
	if p.Publisher == (Agent{}) {
		return p.Author
	}
	return p.Publisher
}

// people describes the author and the publisher.
func (p Package) people() []entity {
	describe := func(a Agent) entity {
		switch {
		case a.URL == "":
			return entity{
				"@id": a.id(), "@type": "Organization", "name": "Not named", "url": ref(readmeFile),
				"description": "Who ran the program and made this archive. `ssdl archive --author` names them.",
			}
		case a.IsPerson():
			return entity{"@id": a.id(), "@type": "Person", "name": a.Name, "url": a.URL, "affiliation": ref(p.publisher().id())}
		}
		return entity{"@id": a.id(), "@type": "Organization", "name": a.Name, "url": a.URL}
	}
	list := []entity{describe(p.Author)}
	if by := p.publisher(); by.id() != p.Author.id() {
		list = append(list, describe(by))
	}
	return list
}
