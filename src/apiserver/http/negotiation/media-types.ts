import type { Encoding } from '../../../api/index.ts';

/** Each media type with its encoding, in the order of the server's preference (specification, section 4.5). */
export const mediaTypes: ReadonlyMap<string, Encoding> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/vnd.cluster.protobuf', 'protobuf'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'], // what unmodified clients call it
]);
