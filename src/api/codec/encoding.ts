import type { YamlReader } from './yaml/index.ts';

/** The encodings of objects on the wire (specification, section 4.5). */
export type Encoding = 'json' | 'yaml' | 'protobuf';

/** A body in a text encoding. */
export type TextBody = Exclude<EncodedBody, { encoding: 'protobuf' }>;

/** A body as received. The receiver loads the YAML reader when it needs one (`loadYamlReader`). */
export type EncodedBody =
  | { encoding: 'json'; bytes: Uint8Array }
  | { encoding: 'protobuf'; bytes: Uint8Array }
  | { encoding: 'yaml'; bytes: Uint8Array; read: YamlReader };
