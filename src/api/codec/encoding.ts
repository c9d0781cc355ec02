import type { YamlReader } from './yaml/index.ts';

/** How objects are written on the wire (specification, section 4.5). */
export type Encoding = 'json' | 'yaml' | 'protobuf';

/** A body that is text. */
export type TextBody = Exclude<EncodedBody, { encoding: 'protobuf' }>;

/** A body as it came. What reads YAML is loaded by whoever takes such a body in (`loadYamlReader`). */
export type EncodedBody =
  | { encoding: 'json'; bytes: Uint8Array }
  | { encoding: 'protobuf'; bytes: Uint8Array }
  | { encoding: 'yaml'; bytes: Uint8Array; read: YamlReader };
