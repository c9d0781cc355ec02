import type { YamlReader } from './types.ts';

/** Loads the YAML library on first use: a server that receives no YAML never needs it. */
export async function loadYamlReader(): Promise<YamlReader> {
  const { parseYaml } = await import('./read.ts');
  return parseYaml;
}
