import type { ApiObject, Kind } from '../../api/index.ts';
import {
  certificateSigningRequestKind,
  namespaceKind,
  notFound,
  StatusError,
  servedKinds,
} from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { CachedStore } from '../storage/index.ts';
import { keyOf } from './keys.ts';
import { Resource } from './resource.ts';
import { namespaceStrategy } from './strategies/namespace.ts';
import { signingRequestStrategy } from './strategies/signing-request.ts';
import type { Admission, Strategy } from './strategy.ts';

export interface RegistryOptions {
  storage: CachedStore;
  clock: Clock;
  groupSuffix: string;
  admission: readonly Admission[];
}

/** Every served kind with its objects. */
export interface Registry {
  readonly groupSuffix: string;
  readonly resources: readonly Resource[];
  /** The resource of a kind that is served. */
  of<T extends ApiObject>(kind: Kind<T>): Resource<T>;
}

export function createRegistry(options: RegistryOptions): Registry {
  const { storage, groupSuffix } = options;
  const namespaces = make(namespaceKind, namespaceStrategy);
  const byKind = new Map<Kind, Resource>();
  byKind.set(namespaceKind, namespaces);
  byKind.set(certificateSigningRequestKind, make(certificateSigningRequestKind, signingRequestStrategy));
  for (const kind of servedKinds) {
    if (!byKind.has(kind)) byKind.set(kind, make(kind, {}));
  }

  function make<T extends ApiObject>(kind: Kind<T>, strategy: Strategy<T>): Resource<T> {
    return new Resource({ ...options, kind, strategy, checkNamespace });
  }

  function checkNamespace(name: string): void {
    const stored = storage.get(keyOf(namespaceKind, '', name));
    if (stored === undefined) throw notFound(namespaceKind, groupSuffix, name);
    if (namespaces.encoding.read(stored).metadata?.deletionTimestamp !== undefined) {
      const message = `unable to create new content in namespace ${name} because it is being terminated`;
      throw new StatusError('Forbidden', message, {
        details: { name, causes: [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }] },
      });
    }
  }

  function isOf<T extends ApiObject>(
    resource: Resource | undefined,
    kind: Kind<T>,
  ): resource is Resource<T> & Resource {
    return resource !== undefined && Object.is(resource.kind, kind);
  }

  return {
    groupSuffix,
    resources: servedKinds.flatMap((kind) => byKind.get(kind) ?? []),
    of(kind) {
      const resource = byKind.get(kind);
      if (!isOf(resource, kind)) throw new Error(`${kind.kind} is not served`);
      return resource;
    },
  };
}
