import type { Holding } from './types.ts';

/**
 * Who holds what, and what is set apart while a plugin is being asked. It answers from memory, and every change is one
 * synchronous step: between looking and taking nobody else comes.
 */
export class Ledger {
  readonly #holdings = new Map<string, Map<string, Holding>>();
  /** By resource and device: how many containers of one pod hold it, or set it apart. */
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

  /** How many devices of each resource are held or set apart. */
  counts(): ReadonlyMap<string, number> {
    return new Map([...this.#uses].map(([name, uses]) => [name, uses.size]));
  }

  /** Sets devices apart until disposed of. */
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
    this.#use(holding.resourceName, idsOf(holding), 1);
  }

  remove(holding: Pick<Holding, 'podUid' | 'containerName' | 'resourceName'>): void {
    const pod = this.#holdings.get(holding.podUid);
    const found = pod?.get(keyOf(holding));
    if (pod === undefined || found === undefined) return;
    pod.delete(keyOf(holding));
    if (pod.size === 0) this.#holdings.delete(holding.podUid);
    this.#use(found.resourceName, idsOf(found), -1);
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

export function idsOf({ devices }: Pick<Holding, 'devices'>): string[] {
  return devices.map(({ id }) => id);
}

const keyOf = ({ containerName, resourceName }: Pick<Holding, 'containerName' | 'resourceName'>) =>
  `${containerName}\0${resourceName}`;
