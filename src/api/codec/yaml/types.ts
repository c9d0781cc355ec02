export interface ParsedYaml {
  /** As JSON would have it. */
  value: unknown;
  /** Paths of keys that stand more than once in their map, each once, at most a hundred. */
  duplicates: string[];
}

/** Parses the text of one YAML document; throws YamlError with line and column. */
export type YamlReader = (text: string) => ParsedYaml;
