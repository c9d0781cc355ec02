import type { YamlReader } from './types.ts';

/** Loads what it takes to read YAML: a server that is sent none does without. */
export async function loadYamlReader(): Promise<YamlReader> {
  const { parseYaml } = await import('./read.ts');
  return parseYaml;
}
