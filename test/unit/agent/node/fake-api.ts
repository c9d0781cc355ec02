import type { LeaseApi } from '../../../../src/agent/node/lease/index.ts';
import type { ApiObject, Kind } from '../../../../src/api/index.ts';
import {
  alreadyExists,
  applyStrategicPatch,
  conflict,
  notFound,
  StatusError,
} from '../../../../src/api/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import type { CallOptions, PatchOptions } from '../../../../src/client/index.ts';

const suffix = 'k8s.io';

export interface Call {
  verb: 'get' | 'create' | 'replace' | 'patch';
  resource: string;
  name: string;
  subresource: string | undefined;
  atMs: number;
  object: ApiObject | undefined;
}

/** An API server in memory, with uids, resourceVersions and the status subresource, whose answers a test scripts. */
export interface FakeApi extends LeaseApi {
  readonly calls: Call[];
  readonly resets: number;
  /** Runs before a call is answered; it may throw, wait, or change what is stored. */
  before: (call: Call) => Promise<void> | void;
  /** Runs after a call took effect, before it is answered. */
  after: (call: Call) => Promise<void> | void;
  /** Whether a node keeps the status that it is created with. */
  keepsStatusOnCreate: boolean;
  namespaces: Set<string>;
  read<T extends ApiObject>(kind: Kind<T>, name: string): T;
  has(kind: Kind, name: string): boolean;
  /** Changes a stored object as another client would. */
  edit<T extends ApiObject>(kind: Kind<T>, name: string, change: (object: T) => T): void;
  remove(kind: Kind, name: string): void;
}

export class UnreachableError extends Error {
  override readonly name = 'ConnectionError';
}

export function createFakeApi(clock: Clock): FakeApi {
  const stored = new Map<string, ApiObject>();
  let revision = 100;
  let resets = 0;
  const keyOf = (kind: Pick<Kind, 'resource'>, name: string) => `${kind.resource}/${name}`;

  function put<T extends ApiObject>(kind: Kind<T>, object: T, uid: string | undefined): T {
    revision += 1;
    const metadata = { ...object.metadata, uid: uid ?? `uid-${revision}`, resourceVersion: String(revision) };
    const next = structuredClone({ ...object, metadata });
    stored.set(keyOf(kind, object.metadata?.name ?? ''), next);
    return structuredClone(next);
  }

  function read<T extends ApiObject>(kind: Kind<T>, name: string): T {
    const object = stored.get(keyOf(kind, name));
    if (object === undefined) throw notFound(kind, suffix, name);
    // What is stored under a kind's resource was written through that kind.
    return structuredClone(object) as T;
  }

  async function answer<T>(call: Omit<Call, 'atMs'>, options: CallOptions, act: () => T): Promise<T> {
    const made = { ...call, object: structuredClone(call.object), atMs: clock.monotonicMs() };
    api.calls.push(made);
    await api.before(made);
    options.signal?.throwIfAborted();
    const { namespace } = options;
    if (call.verb === 'create' && namespace !== undefined && !api.namespaces.has(namespace)) {
      throw new StatusError('NotFound', `namespaces "${namespace}" not found`);
    }
    const result = act();
    await api.after(made);
    return result;
  }

  const api: FakeApi = {
    calls: [],
    before: () => undefined,
    after: () => undefined,
    keepsStatusOnCreate: true,
    namespaces: new Set(['kube-node-lease']),
    get resets() {
      return resets;
    },
    reset() {
      resets += 1;
    },
    read,
    has: (kind, name) => stored.has(keyOf(kind, name)),
    edit(kind, name, change) {
      const old = read(kind, name);
      put(kind, change(old), old.metadata?.uid);
    },
    remove: (kind, name) => void stored.delete(keyOf(kind, name)),
    get(kind, name, options = {}) {
      const call = { verb: 'get', name, subresource: undefined, object: undefined } as const;
      return answer({ ...call, resource: kind.resource }, options, () => read(kind, name));
    },
    create(kind, object, options = {}) {
      const name = object.metadata?.name ?? '';
      const call = { verb: 'create', name, subresource: undefined, object } as const;
      return answer({ ...call, resource: kind.resource }, options, () => {
        if (stored.has(keyOf(kind, name))) throw alreadyExists(kind, suffix, name);
        const kept = { ...object };
        if (!api.keepsStatusOnCreate && 'status' in kept) delete kept.status;
        return put(kind, kept, undefined);
      });
    },
    replace(kind, object, options = {}) {
      const name = object.metadata?.name ?? '';
      const { subresource } = options;
      return answer({ verb: 'replace', resource: kind.resource, name, subresource, object }, options, () => {
        const old = read(kind, name);
        if (object.metadata?.resourceVersion !== old.metadata?.resourceVersion) {
          throw conflict(kind, suffix, name, 'the object has been modified');
        }
        return put(kind, split(object, old, subresource), old.metadata?.uid);
      });
    },
    patch<T extends ApiObject>(
      kind: Kind<T>,
      name: string,
      change: Readonly<Record<string, unknown>>,
      options: PatchOptions,
    ): Promise<T> {
      const { subresource } = options;
      const call = { verb: 'patch', resource: kind.resource, name, subresource, object: change } as const;
      return answer(call, options, () => {
        const old = read(kind, name);
        const patched = applyStrategicPatch(kind.root, Object(old), change) as unknown as T;
        if (patched.metadata?.uid !== old.metadata?.uid) {
          throw conflict(kind, suffix, name, 'the UID in the precondition does not match');
        }
        return put(kind, split(patched, old, subresource), old.metadata?.uid);
      });
    },
  };
  return api;
}

/** The main path leaves the status as it was, the status path everything else. */
function split<T extends ApiObject>(next: T, old: T, subresource: string | undefined): T {
  if (subresource === 'status') return 'status' in next ? { ...old, status: next.status } : old;
  return 'status' in old ? { ...next, status: old.status } : next;
}
