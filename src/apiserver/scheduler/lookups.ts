import type { ApiObject, Kind, ObjectSelector } from '../../api/index.ts';
import {
  csiNodeKind,
  namespaceKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  selectsLabels,
  serviceKind,
  storageClassKind,
} from '../../api/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ClusterLookups } from './cluster/cluster-state.ts';

/** What placing asks for beside nodes and pods, from the cache of the store. */
export function createLookups(
  registry: Registry,
  unschedulableTaint: string,
  isChosen: (volume: string) => boolean,
): ClusterLookups {
  const claims = new ParsedObjects(registry, persistentVolumeClaimKind);
  const volumes = new ParsedObjects(registry, persistentVolumeKind);
  const classes = new ParsedObjects(registry, storageClassKind);
  const csiNodes = new ParsedObjects(registry, csiNodeKind);
  const namespaces = new ParsedObjects(registry, namespaceKind);
  const services = new ParsedObjects(registry, serviceKind);
  return {
    unschedulableTaint,
    volumes: {
      claim: (namespace, name) => claims.find(namespace, name),
      volume: (name) => volumes.find('', name),
      volumes: () => volumes.list(''),
      storageClass: (name) => classes.find('', name),
      csiNode: (name) => csiNodes.find('', name),
      isChosen,
    },
    namespaceLabels: (name) => namespaces.find('', name)?.metadata?.labels ?? {},
    selectorsOf({ namespace, labels }) {
      const selectors = services.list(namespace).flatMap(({ spec }): ObjectSelector[] => {
        const { selector: matchLabels = {} } = spec ?? {};
        const isForIt = Object.keys(matchLabels).length > 0 && selectsLabels({ matchLabels }, labels);
        return isForIt ? [{ matchLabels }] : [];
      });
      return selectors.map((selector) => (others) => selectsLabels(selector, others));
    },
  };
}

/** The objects of a kind; each state of one is parsed once. */
export class ParsedObjects<T extends ApiObject> {
  readonly #resource: Resource<T>;
  readonly #parsed = new WeakMap<Stored, T>();

  constructor(registry: Registry, kind: Kind<T>) {
    this.#resource = registry.of(kind);
  }

  find(namespace: string, name: string): T | undefined {
    const stored =
      name === '' ? undefined : this.#resource.storage.get(this.#resource.prefix(namespace) + name);
    return stored && this.#read(stored);
  }

  list(namespace: string): readonly T[] {
    const { items } = this.#resource.storage.list(this.#resource.prefix(namespace), '', 0);
    return items.map((stored) => this.#read(stored));
  }

  #read(stored: Stored): T {
    const known = this.#parsed.get(stored);
    if (known !== undefined) return known;
    const object = this.#resource.encoding.read(stored);
    this.#parsed.set(stored, object);
    return object;
  }
}
