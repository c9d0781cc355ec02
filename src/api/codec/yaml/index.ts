export { YamlError } from './error.ts';
export { loadYamlReader } from './load.ts';
export type { ParsedYaml, YamlReader } from './types.ts';
export { writeYaml } from './write.ts';
