import type { ApiObject, Kind } from '../../../src/api/index.ts';
import { apiVersionOf, canonicalObject, encodeObject } from '../../../src/api/index.ts';

/** The value of an object as a kube-apiserver stores it by default: `k8s`, a zero byte and the protobuf of Unknown. */
export function protobufValue<T extends ApiObject>(kind: Kind<T>, object: T): Buffer {
  const type = { kind: kind.kind, apiVersion: apiVersionOf(kind, 'k8s.io') };
  return encodeObject(kind, { ...canonicalObject(kind, object), ...type }, 'protobuf');
}

/** As encryption at rest leaves a value. */
export function encryptedValue(): Buffer {
  return Buffer.concat([Buffer.from('k8s:enc:aescbc:v1:key1:'), Buffer.from([0x9d, 0x01, 0xfe, 0x80, 0x00])]);
}
