package archive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The specifications of the rules. The profiles are not based on RO-Crate 1.2; archives follow its rules for data
// and contextual entities that 1.1 allows.
const (
	crate11   = "RO-Crate 1.1"
	crate12   = "RO-Crate 1.2"
	process05 = "Process Run Crate 0.5"
	wfCrate10 = "Workflow RO-Crate 1.0"
	wfRun05   = "Workflow Run Crate 0.5"
	bioschema = "Bioschemas ComputationalWorkflow 1.0"
)

// crateRule is a requirement of a specification. check lists violations; spoil makes one, or reports false if it
// cannot.
type crateRule struct {
	source   string
	level    string // MUST or SHOULD
	text     string
	workflow bool // of archives with specs
	check    func(d *crateDoc) []string
	spoil    func(d *crateDoc) bool
}

var (
	isoDay    = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?([+-]\d{2}:\d{2}|Z))?$`)
	isoOffset = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?\+\d{2}:\d{2})?$`)
	mediaType = regexp.MustCompile(`^\w*/\w[\w.-]*(\+\w[\w.-]*)?$`)
	absolute  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	bioURL    = regexp.MustCompile(`^https://bioschemas\.org/profiles/ComputationalWorkflow/[1-9]`)
)

// each checks entities one by one.
func each(of func(*crateDoc) []node, ok func(d *crateDoc, n node) bool) func(*crateDoc) []string {
	return func(d *crateDoc) (faults []string) {
		for _, n := range of(d) {
			if !ok(d, n) {
				faults = append(faults, fmt.Sprint(n))
			}
		}
		return faults
	}
}

// without removes a property of the first of the entities.
func without(of func(*crateDoc) []node, property string) func(*crateDoc) bool {
	return with(of, property, nil)
}

// with sets a property of the last of the entities.
func with(of func(*crateDoc) []node, property string, v any) func(*crateDoc) bool {
	return func(d *crateDoc) bool {
		list := of(d)
		if len(list) == 0 {
			return false
		}
		list[len(list)-1][property] = v
		return true
	}
}

func kind(names ...string) func(*crateDoc) []node {
	return func(d *crateDoc) (list []node) {
		for _, name := range names {
			for _, n := range d.of(name) {
				if !slices.ContainsFunc(list, func(m node) bool { return m.id() == n.id() }) {
					list = append(list, n)
				}
			}
		}
		return list
	}
}

func id(of string) func(*crateDoc) []node {
	return func(d *crateDoc) []node {
		if n := d.get(of); n != nil {
			return []node{n}
		}
		return nil
	}
}

// refersBy are the entities that a property of the root refers to.
func refersBy(property string) func(*crateDoc) []node {
	return func(d *crateDoc) (list []node) {
		for _, id := range targets(d.root()[property]) {
			list = append(list, d.get(id))
		}
		return list
	}
}

// contextual are the entities that are neither files, nor the root, nor its descriptor.
func contextual(d *crateDoc) (list []node) {
	for _, n := range d.Graph {
		if !n.is("File") && n.id() != "./" && n.id() != metadataFile {
			list = append(list, n)
		}
	}
	return list
}

func everything(d *crateDoc) []node { return d.Graph }

func described(d *crateDoc) []node {
	return slices.DeleteFunc(slices.Clone(d.Graph), func(n node) bool { return n.id() == metadataFile })
}

func has(properties ...string) func(*crateDoc, node) bool {
	return func(_ *crateDoc, n node) bool {
		return !slices.ContainsFunc(properties, func(p string) bool { return n[p] == nil || n[p] == "" })
	}
}

func mapping(v any) map[string]any { m, _ := v.(map[string]any); return m }

var (
	actions      = kind("CreateAction")
	applications = kind("SoftwareApplication", "SoftwareSourceCode", "ComputationalWorkflow")
	workflows    = kind("ComputationalWorkflow")
	mainWorkflow = refersBy("mainEntity")
)

// required is a rule that entities have properties.
func required(source, level, text string, of func(*crateDoc) []node, properties ...string) crateRule {
	return crateRule{source, level, text, false, each(of, has(properties...)), without(of, properties[len(properties)-1])}
}

var crateRules = slices.Concat(generalRules, processRules, workflowRules)

var generalRules = []crateRule{
	{
		crate11, "MUST", "the descriptor is a CreativeWork about the root and conforms to the specification", false,
		func(d *crateDoc) []string {
			n := d.get(metadataFile)
			if n.is("CreativeWork") && slices.Equal(targets(n["about"]), []string{"./"}) && slices.Contains(targets(n["conformsTo"]), roCrate) {
				return nil
			}
			return []string{fmt.Sprint(n)}
		}, with(id(metadataFile), "conformsTo", ref(processRun)),
	},
	{
		crate11, "MUST", "the context is that of the specification", false,
		func(d *crateDoc) []string {
			if !slices.Contains(d.Context, any(roCrate+"/context")) {
				return []string{fmt.Sprint(d.Context)}
			}
			return nil
		}, func(d *crateDoc) bool { d.Context = d.Context[1:]; return true },
	},
	{
		crate11, "MUST", "the graph is flat: each entity has an id of its own and a type, and refers by id alone", false,
		func(d *crateDoc) (faults []string) {
			seen := map[string]bool{}
			for _, n := range d.Graph {
				if n.id() == "" || n["@type"] == nil || seen[n.id()] {
					faults = append(faults, fmt.Sprint(n))
				}
				seen[n.id()] = true
				for _, v := range n {
					list, _ := v.([]any)
					for _, x := range append(list, v) {
						if m := mapping(x); m != nil && (len(m) != 1 || m["@id"] == nil) {
							faults = append(faults, fmt.Sprint(n))
						}
					}
				}
			}
			return faults
		}, func(d *crateDoc) bool { d.Graph = append(d.Graph, d.Graph[2]); return true },
	},
	{crate11, "MUST", "the root is a Dataset", false, each(id("./"), func(_ *crateDoc, n node) bool { return n.is("Dataset") }), with(id("./"), "@type", "CreativeWork")},
	required(crate11, "MUST", "the root has a name, a description, a date and a licence", id("./"), "name", "description", "datePublished", "license"),
	{
		crate11, "SHOULD", "the date of the root is given to the day", false,
		each(id("./"), func(_ *crateDoc, n node) bool { return isoDay.MatchString(n["datePublished"].(string)) }), with(id("./"), "datePublished", "2026"),
	},
	{
		crate11, "SHOULD", "the licence is an entity with a name and a description", false,
		each(id("./"), func(d *crateDoc, n node) bool {
			return d.all(n["license"], "CreativeWork") && has("name", "description")(d, d.get(targets(n["license"])[0]))
		}), without(id(license), "description"),
	},
	{
		crate11, "SHOULD", "the author of the root is a person or an organisation", false,
		each(id("./"), func(d *crateDoc, n node) bool { return d.all(n["author"], "Person", "Organization") }), with(id("./"), "author", "me"),
	},
	{
		crate11, "SHOULD", "the publisher of the root is one organisation", false,
		each(id("./"), func(d *crateDoc, n node) bool {
			return d.all(n["publisher"], "Organization") && len(targets(n["publisher"])) == 1
		}),
		with(refersBy("publisher"), "@type", "Person"),
	},
	{
		crate11, "SHOULD", "a person has a name and an affiliation that is an organisation", false,
		each(kind("Person"), func(d *crateDoc, n node) bool {
			return has("name")(d, n) && d.all(n["affiliation"], "Organization")
		}), without(kind("Person"), "affiliation"),
	},
	required(crate11, "SHOULD", "an organisation has a name and an address", kind("Organization"), "name", "url"),
	{
		crate11, "MUST", "a file is in the archive", false,
		func(d *crateDoc) (faults []string) {
			for _, n := range d.of("File") {
				if _, ok := d.content[n.id()]; !ok {
					faults = append(faults, n.id())
				}
			}
			return faults
		}, func(d *crateDoc) bool { delete(d.content, StoreFile); return true },
	},
	{
		crate11, "MUST", "the root has each file as a part, and each file of the archive is described", false,
		func(d *crateDoc) (faults []string) {
			parts := targets(d.root()["hasPart"])
			for name := range d.content {
				if name != metadataFile && !isSeal(name) && (!slices.Contains(parts, name) || !d.get(name).is("File")) {
					faults = append(faults, name)
				}
			}
			for _, name := range parts {
				if _, ok := d.content[name]; !ok {
					faults = append(faults, name)
				}
			}
			return faults
		}, func(d *crateDoc) bool { d.content["stray"] = nil; return true },
	},
	{
		crate11, "SHOULD", "a file has its media type", false,
		each(kind("File"), func(_ *crateDoc, n node) bool {
			s, ok := n["encodingFormat"].(string)
			return ok && mediaType.MatchString(s)
		}), without(kind("File"), "encodingFormat"),
	},
	{
		crate11, "SHOULD", "there is a page that shows the archive", false,
		func(d *crateDoc) []string {
			if !strings.HasPrefix(string(d.content[previewFile]), "<!DOCTYPE html>") {
				return []string{previewFile}
			}
			return nil
		}, func(d *crateDoc) bool { delete(d.content, previewFile); return true },
	},
	{
		crate11, "SHOULD", "a list of one is that one", false,
		each(everything, func(_ *crateDoc, n node) bool {
			for _, v := range n {
				if list, ok := v.([]any); ok && len(list) < 2 {
					return false
				}
			}
			return true
		}), with(actions, "result", []any{map[string]any{"@id": StoreFile}}),
	},
	{
		crate11, "SHOULD", "what is referred to is described", false,
		func(d *crateDoc) (faults []string) {
			for _, n := range d.Graph {
				for property, v := range n {
					for _, to := range targets(v) {
						if d.get(to) == nil && to != roCrate {
							faults = append(faults, n.id()+" "+property+" "+to)
						}
					}
				}
			}
			return faults
		}, with(actions, "object", map[string]any{"@id": "#nothing"}),
	},
	{
		crate11, "SHOULD", "each contextual entity is referred to by another", false,
		each(contextual, func(d *crateDoc, n node) bool {
			return slices.ContainsFunc(d.Graph, func(m node) bool {
				for _, v := range m {
					if m.id() != n.id() && slices.Contains(targets(v), n.id()) {
						return true
					}
				}
				return false
			})
		}), func(d *crateDoc) bool {
			d.Graph = append(d.Graph, node{"@id": "#alone", "@type": "CreativeWork"})
			return true
		},
	},
	required(crate12, "SHOULD", "each entity has a name", described, "name"),
	required(crate12, "SHOULD", "each file has a description", kind("File"), "description"),
	{
		crate12, "SHOULD", "the id of a contextual entity is an address or begins with #", false,
		each(contextual, func(_ *crateDoc, n node) bool { return strings.HasPrefix(n.id(), "#") || absolute.MatchString(n.id()) }),
		func(d *crateDoc) bool {
			d.Graph = append(d.Graph, node{"@id": "bare", "@type": "CreativeWork"})
			return true
		},
	},
}

var processRules = []crateRule{
	{
		process05, "MUST", "the root conforms to the profile, which is described", false,
		each(id("./"), func(d *crateDoc, n node) bool {
			return slices.Contains(targets(n["conformsTo"]), processRun) && d.get(processRun).is("CreativeWork") && d.get(processRun)["version"] == "0.5"
		}), with(id(processRun), "@type", "Thing"),
	},
	{
		process05, "MUST", "the instrument of an action is software", false,
		each(actions, func(d *crateDoc, n node) bool {
			return d.all(n["instrument"], "SoftwareApplication", "SoftwareSourceCode", "ComputationalWorkflow")
		}), with(actions, "instrument", map[string]any{"@id": StoreFile}),
	},
	{
		process05, "SHOULD", "the root mentions each action", false,
		each(actions, func(d *crateDoc, n node) bool { return slices.Contains(targets(d.root()["mentions"]), n.id()) }), without(id("./"), "mentions"),
	},
	required(process05, "SHOULD", "an action has a name", actions, "name"),
	required(process05, "SHOULD", "an action has a description", actions, "description"),
	required(process05, "SHOULD", "an action has a result", actions, "result"),
	{
		process05, "SHOULD", "an action has the time of its end, with an offset", false,
		each(actions, func(_ *crateDoc, n node) bool { return isoOffset.MatchString(fmt.Sprint(n["endTime"])) }), with(actions, "endTime", "2026-11-03T10:30:02Z"),
	},
	{
		process05, "SHOULD", "the time of the beginning has an offset", false,
		each(actions, func(_ *crateDoc, n node) bool { return isoOffset.MatchString(fmt.Sprint(n["startTime"])) }), with(actions, "startTime", "2026-11-03T10:30:02Z"),
	},
	{
		process05, "SHOULD", "the agent of an action is a person or an organisation", false,
		each(actions, func(d *crateDoc, n node) bool { return d.all(n["agent"], "Person", "Organization") }), without(actions, "agent"),
	},
	{
		process05, "SHOULD", "an action is completed or failed, where its state is said", false,
		each(actions, func(_ *crateDoc, n node) bool {
			return n["actionStatus"] == nil || n["actionStatus"] == completed || n["actionStatus"] == "http://schema.org/FailedActionStatus"
		}), with(actions, "actionStatus", map[string]any{"@id": completed}),
	},
	{
		process05, "SHOULD", "an action has an error only if it failed", false,
		each(actions, func(_ *crateDoc, n node) bool {
			return n["error"] == nil || n["actionStatus"] == "http://schema.org/FailedActionStatus"
		}), with(actions, "error", "x"),
	},
	{
		process05, "SHOULD", "objects and results are files, works or values", false,
		each(actions, func(d *crateDoc, n node) bool {
			kinds := []string{"File", "Dataset", "Collection", "CreativeWork", "PropertyValue"}
			return d.all(n["object"], kinds...) && d.all(n["result"], kinds...)
		}), with(actions, "object", map[string]any{"@id": "#unnamed"}),
	},
	required(process05, "SHOULD", "software has a name and an address", applications, "name", "url"),
	{
		process05, "SHOULD", "software has one version", false,
		each(applications, func(_ *crateDoc, n node) bool { return (n["version"] == nil) != (n["softwareVersion"] == nil) }), with(kind("SoftwareApplication"), "version", "1"),
	},
	{
		process05, "SHOULD", "the id of a program is an address, where its sources have one", false,
		each(kind("SoftwareApplication"), func(_ *crateDoc, n node) bool {
			return strings.HasPrefix(n.id(), "https://") || n["isBasedOn"] != nil || mapping(n["url"]) != nil
		}), func(d *crateDoc) bool {
			list := slices.DeleteFunc(d.of("SoftwareApplication"), func(n node) bool { return n["identifier"] == nil })
			list[0]["@id"] = "#local"
			return true
		},
	},
}

var workflowRules = []crateRule{
	{
		wfCrate10, "MUST", "the main entity is a file of source code and a workflow", true,
		each(id("./"), func(d *crateDoc, n node) bool {
			main := mainWorkflow(d)
			return len(main) == 1 && main[0].is("File") && main[0].is("SoftwareSourceCode") && main[0].is("ComputationalWorkflow")
		}), with(mainWorkflow, "@type", "File"),
	},
	{
		wfCrate10, "MUST", "the main workflow has a language", true,
		each(mainWorkflow, func(d *crateDoc, n node) bool { return d.all(n["programmingLanguage"], "ComputerLanguage") }), without(mainWorkflow, "programmingLanguage"),
	},
	{
		wfCrate10, "SHOULD", "the descriptor conforms to the profile too", true,
		each(id(metadataFile), func(_ *crateDoc, n node) bool {
			return slices.Equal(targets(n["conformsTo"]), []string{roCrate, workflowCrate})
		}), with(id(metadataFile), "conformsTo", map[string]any{"@id": roCrate}),
	},
	{
		wfCrate10, "SHOULD", "there is a README in Markdown about the archive", false,
		func(d *crateDoc) []string {
			n := d.get(readmeFile)
			if slices.Equal(targets(n["about"]), []string{"./"}) && n["encodingFormat"] == "text/markdown" && len(d.content[readmeFile]) > 0 {
				return nil
			}
			return []string{fmt.Sprint(n)}
		}, without(id(readmeFile), "about"),
	},
	{
		wfCrate10, "SHOULD", "a workflow conforms to Bioschemas, version 1.0 or later", true,
		each(workflows, func(_ *crateDoc, n node) bool {
			return slices.ContainsFunc(targets(n["conformsTo"]), bioURL.MatchString)
		}), without(workflows, "conformsTo"),
	},
	{
		wfRun05, "MUST", "the root conforms to the profile and to those that it is made of", true,
		each(id("./"), func(d *crateDoc, n node) bool {
			return slices.Equal(targets(n["conformsTo"]), []string{processRun, workflowRun, workflowCrate}) && d.all(n["conformsTo"], "CreativeWork")
		}), with(id("./"), "conformsTo", map[string]any{"@id": processRun}),
	},
	{
		wfRun05, "MUST", "an action has the main workflow as its instrument", true,
		each(id("./"), func(d *crateDoc, n node) bool {
			return slices.ContainsFunc(actions(d), func(a node) bool { return slices.Equal(targets(a["instrument"]), targets(n["mainEntity"])) })
		}), with(id("./"), "mainEntity", map[string]any{"@id": readmeFile}),
	},
	{
		wfRun05, "MUST", "inputs and outputs of a workflow are formal parameters", true,
		each(workflows, func(d *crateDoc, n node) bool {
			return d.all(n["input"], "FormalParameter") && d.all(n["output"], "FormalParameter")
		}), with(workflows, "input", map[string]any{"@id": StoreFile}),
	},
	required(wfRun05, "MUST", "a formal parameter has a type and a name", kind("FormalParameter"), "name", "additionalType"),
	{
		wfRun05, "SHOULD", "a file or a value is an example of each formal parameter", true,
		each(kind("FormalParameter"), func(d *crateDoc, n node) bool {
			return slices.ContainsFunc(kind("File", "PropertyValue")(d), func(m node) bool { return slices.Contains(targets(m["exampleOfWork"]), n.id()) })
		}), without(id(StoreFile), "exampleOfWork"),
	},
	required(bioschema, "MUST", "a workflow has the minimum properties", workflows,
		"conformsTo", "creator", "dateCreated", "input", "license", "name", "output", "programmingLanguage", "sdPublisher", "url", "version"),
}
