// Plays scenarios of server-side apply with the reference's own field manager and tells what comes of them.
// See ../README.md.
//
//	go run . SCENARIOS.json > OUTCOMES.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// scenario is a story about one object. What every object has (its type and name) is left out of the steps.
type scenario struct {
	Name       string `json:"name"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Steps      []step `json:"steps"`
}

// step is a write: an apply of a configuration, an update with a whole object, or an update of the object as a merge
// patch leaves it.
type step struct {
	By      string         `json:"by"`
	Apply   map[string]any `json:"apply,omitempty"`
	Update  map[string]any `json:"update,omitempty"`
	Merge   map[string]any `json:"merge,omitempty"`
	Force   bool           `json:"force,omitempty"`
	Through string         `json:"through,omitempty"`
}

// outcome is what there is after a step: the object and its managers, or why the step was refused.
type outcome struct {
	Error    string         `json:"error,omitempty"`
	Object   map[string]any `json:"object,omitempty"`
	Managers []manager      `json:"managers,omitempty"`
}

// manager is an entry of managedFields; instead of a time it says in which step it was last changed.
type manager struct {
	Manager     string          `json:"manager"`
	Operation   string          `json:"operation"`
	APIVersion  string          `json:"apiVersion"`
	Subresource string          `json:"subresource,omitempty"`
	Step        int             `json:"step"`
	Fields      json.RawMessage `json:"fields"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: go run . SCENARIOS.json"))
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	var scenarios []scenario
	if err := json.Unmarshal(text, &scenarios); err != nil {
		fail(err)
	}
	outcomes := map[string][]outcome{}
	for _, scenario := range scenarios {
		if outcomes[scenario.Name], err = play(scenario); err != nil {
			fail(fmt.Errorf("%s: %w", scenario.Name, err))
		}
	}
	encoded, err := json.MarshalIndent(outcomes, "", " ")
	if err != nil {
		fail(err)
	}
	fmt.Println(string(encoded))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
