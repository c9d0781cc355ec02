export interface ParsedYaml {
  /** The same value that JSON would give. */
  value: unknown;
  /** Paths of keys that occur more than once in their map, each once, at most one more than `complaintsLimit`. */
  duplicates: string[];
}

/** Parses the text of one YAML document; throws YamlError with line and column. */
export type YamlReader = (text: string) => ParsedYaml;
