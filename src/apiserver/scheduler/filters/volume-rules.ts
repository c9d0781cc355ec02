import type { ClusterState } from '../cluster/cluster-state.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { chooseVolumes, reaches, readClaims } from '../volumes/claims.ts';
import type { Volume } from '../volumes/lookup.ts';
import type { Filter, FilterRun, Verdict } from './filter.ts';
import { verdict } from './filter.ts';

/* The rules about the volumes of a pod. */

const inUse = verdict(
  false,
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
);

/** A claim that only one pod may use at a time. */
export const volumeRestrictions: Filter = {
  name: 'VolumeRestrictions',
  begin(pod, { nodes, lookups: { volumes } }) {
    const exclusive = pod.claims.filter((name) =>
      volumes.claim(pod.namespace, name)?.spec?.accessModes?.includes('ReadWriteOncePod'),
    );
    if (exclusive.length === 0) return undefined;
    const users = new Set<string>();
    for (const node of nodes) {
      for (const other of node.pods.values())
        if (usesAny(other, pod.namespace, exclusive)) users.add(other.key);
    }
    return new ExclusiveRun(pod.namespace, exclusive, users);
  },
};

class ExclusiveRun implements FilterRun {
  readonly #namespace: string;
  readonly #claims: readonly string[];
  readonly #users: Set<string>;

  constructor(namespace: string, claims: readonly string[], users: ReadonlySet<string>) {
    this.#namespace = namespace;
    this.#claims = claims;
    this.#users = new Set(users);
  }

  check(): Verdict | undefined {
    return this.#users.size > 0 ? inUse : undefined;
  }

  copy(): FilterRun {
    return new ExclusiveRun(this.#namespace, this.#claims, this.#users);
  }

  count(pod: PodFacts, _node: NodeState, by: 1 | -1): void {
    if (!usesAny(pod, this.#namespace, this.#claims)) return;
    if (by === 1) this.#users.add(pod.key);
    else this.#users.delete(pod.key);
  }
}

function usesAny(pod: PodFacts, namespace: string, claims: readonly string[]): boolean {
  return pod.namespace === namespace && pod.claims.some((name) => claims.includes(name));
}

const tooManyVolumes = verdict(false, 'node(s) exceed max volume count');

/** How many volumes of a driver a node can have attached; what is attached there already needs no more room. */
export const nodeVolumeLimits: Filter = {
  name: 'NodeVolumeLimits',
  begin(pod, cluster) {
    const wanted = csiVolumes(pod, cluster);
    if (wanted.size === 0) return undefined;
    return {
      check(node) {
        const drivers = cluster.lookups.volumes.csiNode(node.name)?.spec.drivers ?? [];
        const limits = new Map(drivers.map(({ name, allocatable }) => [name, allocatable?.count]));
        if ([...wanted.values()].every((driver) => limits.get(driver) === undefined)) return undefined;
        const there = new Map<string, string>();
        for (const other of node.pods.values())
          for (const [volume, driver] of csiVolumes(other, cluster)) there.set(volume, driver);
        const added = [...wanted].filter(([volume]) => !there.has(volume));
        const all = new Map([...there, ...added]);
        const isOver = new Set(added.map(([, driver]) => driver))
          .values()
          .some((driver) => countOf(all, driver) > (limits.get(driver) ?? Number.POSITIVE_INFINITY));
        return isOver ? tooManyVolumes : undefined;
      },
    };
  },
};

const countOf = (volumes: ReadonlyMap<string, string>, driver: string) =>
  [...volumes.values()].filter((each) => each === driver).length;

/** The driver by volume; a claim that has none yet counts as one of its own. */
function csiVolumes(pod: PodFacts, { lookups: { volumes } }: ClusterState): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of pod.claims) {
    const claim = volumes.claim(pod.namespace, name);
    const { csi } = volumes.volume(claim?.spec?.volumeName ?? '')?.spec ?? {};
    if (csi !== undefined) {
      found.set(`${csi.driver} ${csi.volumeHandle}`, csi.driver);
      continue;
    }
    if (claim === undefined || claim.spec?.volumeName) continue;
    const provisioner = volumes.storageClass(claim.spec?.storageClassName ?? '')?.provisioner;
    if (provisioner !== undefined) found.set(`${provisioner} ${pod.namespace}/${name}`, provisioner);
  }
  return found;
}

const unreachable = verdict(true, "node(s) didn't match PersistentVolume's node affinity");
const volumeGone = verdict(true, 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
const noVolume = verdict(true, "node(s) didn't find available persistent volumes to bind");

/** Volumes that are bound must reach the node, and for open claims it must have some. */
export const volumeBinding: Filter = {
  name: 'VolumeBinding',
  begin(pod, { lookups: { volumes } }) {
    if (pod.claims.length === 0) return undefined;
    const claims = readClaims(pod, volumes);
    if ('refusal' in claims) return claims;
    return {
      check(node) {
        if (claims.isVolumeGone) return volumeGone;
        if (!claims.bound.every(({ volume }) => reaches(node, volume))) return unreachable;
        const choice = chooseVolumes(claims.open, node, volumes);
        return choice === 'no volume' ? noVolume : undefined;
      },
    };
  },
};

const otherZone = verdict(true, 'node(s) had no available volume zone');

const zoneLabels: readonly string[] = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
];

/** Several zones in one label are joined so. */
const zoneSeparator = '__';

/** Volumes whose labels name a zone are used in it. */
export const volumeZone: Filter = {
  name: 'VolumeZone',
  begin(pod, { lookups: { volumes } }) {
    const zoned = pod.claims.flatMap((name) => {
      const volume = volumes.volume(volumes.claim(pod.namespace, name)?.spec?.volumeName ?? '');
      return volume === undefined ? [] : zonesOf(volume);
    });
    if (zoned.length === 0) return undefined;
    return {
      check({ facts }) {
        const isZoned = zoneLabels.some((label) => facts.labels[label] !== undefined);
        if (!isZoned) return undefined; // a cluster without zones
        return zoned.every(([label, zones]) => zones.includes(facts.labels[label] ?? ''))
          ? undefined
          : otherZone;
      },
    };
  },
};

function zonesOf({ metadata }: Volume): [label: string, zones: readonly string[]][] {
  return zoneLabels.flatMap((label): [string, readonly string[]][] => {
    const value = metadata?.labels?.[label];
    return value === undefined ? [] : [[label, value.split(zoneSeparator)]];
  });
}
