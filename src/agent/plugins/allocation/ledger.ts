import type { Holding } from './types.ts';

/**
 * The devices that containers hold, and those reserved during a call to a plugin. It is in memory, and every operation is
 * synchronous: nothing can change between a check and the reservation that follows it.
 */
export class Ledger {
  readonly #holdings = new Map<string, Map<string, Holding>>();
  /** By resource and device: how many containers of one pod hold or reserve it. */
  readonly #uses = new Map<string, Map<string, number>>();

  pods(): Iterable<string> {
    return this.#holdings.keys();
  }

  all(): Holding[] {
    return [...this.#holdings.values()].flatMap((holdings) => [...holdings.values()]);
  }

  ofPod(podUid: string): Holding[] {
    return [...(this.#holdings.get(podUid)?.values() ?? [])];
  }

  /** Sorted by resource. */
  ofContainer(podUid: string, containerName: string): Holding[] {
    const own = this.ofPod(podUid).filter((holding) => holding.containerName === containerName);
    return own.sort((a, b) => (a.resourceName < b.resourceName ? -1 : 1));
  }

  isUsed(resourceName: string, id: string): boolean {
    return this.#uses.get(resourceName)?.has(id) ?? false;
  }

  /** How many devices of each resource are held or reserved. */
  counts(): ReadonlyMap<string, number> {
    return new Map([...this.#uses].map(([name, uses]) => [name, uses.size]));
  }

  /** Reserves devices until disposed of. */
  reserve(resourceName: string, ids: readonly string[]): Disposable {
    let isOpen = true;
    this.#use(resourceName, ids, 1);
    return {
      [Symbol.dispose]: () => {
        if (isOpen) this.#use(resourceName, ids, -1);
        isOpen = false;
      },
    };
  }

  put(holding: Holding): void {
    this.remove(holding);
    const pod = this.#holdings.get(holding.podUid) ?? new Map<string, Holding>();
    this.#holdings.set(holding.podUid, pod);
    pod.set(keyOf(holding), holding);
    this.#use(holding.resourceName, listIds(holding), 1);
  }

  remove(holding: Pick<Holding, 'podUid' | 'containerName' | 'resourceName'>): void {
    const pod = this.#holdings.get(holding.podUid);
    const found = pod?.get(keyOf(holding));
    if (pod === undefined || found === undefined) return;
    pod.delete(keyOf(holding));
    if (pod.size === 0) this.#holdings.delete(holding.podUid);
    this.#use(found.resourceName, listIds(found), -1);
  }

  #use(resourceName: string, ids: readonly string[], change: 1 | -1): void {
    const uses = this.#uses.get(resourceName) ?? new Map<string, number>();
    this.#uses.set(resourceName, uses);
    for (const id of ids) {
      const count = (uses.get(id) ?? 0) + change;
      if (count > 0) uses.set(id, count);
      else uses.delete(id);
    }
  }
}

export function listIds({ devices }: Pick<Holding, 'devices'>): string[] {
  return devices.map(({ id }) => id);
}

const keyOf = ({ containerName, resourceName }: Pick<Holding, 'containerName' | 'resourceName'>) =>
  `${containerName}\0${resourceName}`;
