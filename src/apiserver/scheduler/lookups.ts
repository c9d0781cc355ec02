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
import type { Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ClusterLookups } from './cluster/cluster-state.ts';
import type { VolumeLookup } from './volumes/lookup.ts';

/** What placing asks for beside nodes and pods, from the cache of the store. */
export function createLookups(
  registry: Registry,
  unschedulableTaint: string,
  chosen: Pick<VolumeLookup, 'chosenFor' | 'chosenNode'>,
  log: Logger,
): ClusterLookups {
  const claims = new ParsedObjects(registry, persistentVolumeClaimKind, log);
  const volumes = new ParsedObjects(registry, persistentVolumeKind, log);
  const classes = new ParsedObjects(registry, storageClassKind, log);
  const csiNodes = new ParsedObjects(registry, csiNodeKind, log);
  const namespaces = new ParsedObjects(registry, namespaceKind, log);
  const services = new ParsedObjects(registry, serviceKind, log);
  return {
    unschedulableTaint,
    volumes: {
      claim: (namespace, name) => claims.find(namespace, name),
      volume: (name) => volumes.find('', name),
      volumes: () => volumes.list(''),
      storageClass: (name) => classes.find('', name),
      csiNode: (name) => csiNodes.find('', name),
      ...chosen,
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

/** The objects of a kind; each state of one is parsed once, and one that cannot be read is as if it were not there. */
export class ParsedObjects<T extends ApiObject> {
  readonly #resource: Resource<T>;
  readonly #parsed = new WeakMap<Stored, T | 'unreadable'>();
  readonly #log: Logger;

  constructor(registry: Registry, kind: Kind<T>, log: Logger) {
    this.#resource = registry.of(kind);
    this.#log = log;
  }

  find(namespace: string, name: string): T | undefined {
    const stored =
      name === '' ? undefined : this.#resource.storage.get(this.#resource.prefix(namespace) + name);
    return stored && this.#read(stored);
  }

  list(namespace: string): readonly T[] {
    const { items } = this.#resource.storage.list(this.#resource.prefix(namespace), '', 0);
    return items.flatMap((stored) => this.#read(stored) ?? []);
  }

  #read(stored: Stored): T | undefined {
    const known = this.#parsed.get(stored) ?? this.#parse(stored);
    this.#parsed.set(stored, known);
    return known === 'unreadable' ? undefined : known;
  }

  #parse(stored: Stored): T | 'unreadable' {
    try {
      return this.#resource.encoding.read(stored);
    } catch (error) {
      this.#log.warn({ key: stored.key }, `the scheduler cannot read an object: ${describeError(error)}`);
      return 'unreadable';
    }
  }
}
