import type { Kind, ObjectMeta } from '../../api/index.ts';
import { nodeKind, podKind, secretKind, serviceAccountKind } from '../../api/index.ts';
import type { TokenObject, TokenObjectKind, TokenObjects } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';

const kinds: Readonly<Record<TokenObjectKind, Kind>> = {
  ServiceAccount: serviceAccountKind,
  Pod: podKind,
  Secret: secretKind,
  Node: nodeKind,
};

/** How long memory may take to come to what the store has. */
const waitLimitMs = 3_000;

/** The objects that tokens speak of, out of the registry; each state of one is read once. */
export function tokenObjects(registry: () => Registry): TokenObjects {
  const known = new WeakMap<Stored, TokenObject>();
  return {
    find(kind, namespace, name) {
      const resource = registry().of(kinds[kind]);
      const stored = resource.storage.get(resource.prefix(namespace) + name);
      if (stored === undefined) return undefined;
      const object = known.get(stored) ?? describe(resource.encoding.read(stored).metadata);
      known.set(stored, object);
      return object;
    },
    async newest() {
      const { storage } = registry().of(serviceAccountKind);
      await storage.confirm(storage.applied, () => AbortSignal.timeout(waitLimitMs));
    },
  };
}

function describe(metadata: ObjectMeta = {}): TokenObject {
  const { uid = '', deletionTimestamp } = metadata; // which already counts in the grace period
  return { uid, goneMs: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) };
}
