import { hash } from 'node:crypto';
import type { Kind, ObjectMeta } from '../../api/index.ts';
import { nodeKind, podKind, secretKind, serviceAccountKind } from '../../api/index.ts';
import type { TokenObject, TokenObjectKind, TokenObjects } from '../authn/index.ts';
import { invalidSinceLabel, secretTokenType } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';

const kinds: Readonly<Record<TokenObjectKind, Kind>> = {
  ServiceAccount: serviceAccountKind,
  Pod: podKind,
  Secret: secretKind,
  Node: nodeKind,
};

/** How long to wait until memory has caught up with the store. */
const waitLimitMs = 3_000;

/** Finds the objects that tokens refer to in the registry; each state of an object is decoded once. */
export function createTokenObjects(registry: () => Registry): TokenObjects {
  const known = new WeakMap<Stored, TokenObject>();
  return {
    find(kind, namespace, name) {
      const resource = registry().of(kinds[kind]);
      const key = resource.prefix(namespace) + name;
      const stored = resource.storage.get(key);
      if (stored === undefined) return resource.storage.lookup(key) && 'unreadable';
      const object = known.get(stored) ?? describe(kind, registry(), stored);
      known.set(stored, object);
      return object;
    },
    async newest() {
      const { storage } = registry().of(serviceAccountKind);
      await storage.confirm(storage.applied, () => AbortSignal.timeout(waitLimitMs));
    },
  };
}

function describe(kind: TokenObjectKind, registry: Registry, stored: Stored): TokenObject {
  if (kind !== 'Secret') return describeMetadata(registry.of(kinds[kind]).encoding.read(stored).metadata);
  const { metadata, type, data = {} } = registry.of(secretKind).encoding.read(stored);
  const { token } = data;
  const object = describeMetadata(metadata);
  if (type !== secretTokenType || token === undefined) return object;
  const digest = hash('sha256', Buffer.from(token, 'base64'), 'base64url');
  return { ...object, token: { digest, isInvalid: metadata?.labels?.[invalidSinceLabel] !== undefined } };
}

function describeMetadata(metadata: ObjectMeta = {}): TokenObject {
  const { uid = '', deletionTimestamp } = metadata; // it includes the grace period
  return { uid, goneMs: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) };
}
