import type { Clock } from '../../../base/index.ts';
import type { Plan } from '../plan/index.ts';

interface Since {
  readonly reason: string;
  readonly sinceMs: number;
}

/** Remembers since when each pod and each container has waited for the same reason. Bounded by the pods of the node. */
export class WaitTimes {
  readonly #clock: Pick<Clock, 'now'>;
  /** By uid, then by container name; '' for the pod. */
  readonly #pods = new Map<string, ReadonlyMap<string, Since>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** To be called with each plan of the pod. */
  update(uid: string, { wait, waits }: Pick<Plan, 'wait' | 'waits'>): void {
    const before = this.#pods.get(uid);
    const now = wait === undefined ? [...waits] : [['', wait] as const, ...waits];
    if (now.length === 0) {
      this.#pods.delete(uid);
      return;
    }
    const nowMs = this.#clock.now();
    const next = now.map(([name, { reason }]) => {
      const known = before?.get(name);
      return [name, known?.reason === reason ? known : { reason, sinceMs: nowMs }] as const;
    });
    this.#pods.set(uid, new Map(next));
  }

  /** For `ExplainInput.waitsSinceMs`. */
  of(uid: string): ReadonlyMap<string, number> {
    return new Map([...(this.#pods.get(uid) ?? [])].map(([name, { sinceMs }]) => [name, sinceMs]));
  }

  forget(uid: string): void {
    this.#pods.delete(uid);
  }
}
