import type { Pod } from '../../../../../src/api/index.ts';
import { ContainerRuns } from '../../../../support/index.ts';
import type { NodeWorld } from './node-world.ts';

type Status = NonNullable<Pod['status']>;

/** The pods of a node as an API has them, with what must hold of all that it is told. */
export class SmallApi {
  readonly runs = new Map<string, ContainerRuns>();
  readonly #pods = new Map<string, Pod>();
  /** By uid and container: the highest count so far. */
  readonly #counts = new Map<string, number>();

  get pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  get complaints(): string[] {
    return [...this.runs].flatMap(([uid, { complaints }]) => complaints.map((each) => `${uid}: ${each}`));
  }

  create(pod: Pod): void {
    this.#pods.set(uidOf(pod), pod);
    this.runs.set(uidOf(pod), new ContainerRuns());
  }

  delete(uid: string, graceSeconds: number): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    const deletionTimestamp = '2025-01-01T00:00:00Z';
    const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds };
    this.#pods.set(uid, { ...pod, metadata });
  }

  /** Another description of it; what was told of it stays. */
  change(pod: Pod): void {
    const { status } = this.#pods.get(uidOf(pod)) ?? {};
    this.#pods.set(uidOf(pod), status === undefined ? pod : { ...pod, status });
  }

  /** Its object goes without waiting for its end. */
  drop(uid: string): void {
    this.#pods.delete(uid);
  }

  /** A container of the pod begins to run, as the runtime sees it. */
  began(uid: string, container: string, attempt: number): void {
    this.runs.get(uid)?.began(container, String(attempt));
  }

  readonly told = (pod: Pod, status: Status): void => {
    const uid = uidOf(pod);
    const current = this.#pods.get(uid);
    if (current === undefined) return;
    this.#pods.set(uid, { ...current, status });
    for (const { name, restartCount } of statusesOf(status)) {
      const before = this.#counts.get(`${uid} ${name}`) ?? 0;
      if (restartCount < before)
        this.runs.get(uid)?.complain(`${name} has restart count ${restartCount} after ${before}`);
      this.#counts.set(`${uid} ${name}`, Math.max(before, restartCount));
    }
  };

  readonly confirmed = (pod: Pod): void => {
    if (this.#pods.get(uidOf(pod))?.metadata?.deletionTimestamp !== undefined) this.#pods.delete(uidOf(pod));
  };

  /** The counts that were told last must be those of the runs, where containers have run. */
  expectCounts(uid: string): void {
    const runs = this.runs.get(uid);
    for (const { name, restartCount } of statusesOf(this.#pods.get(uid)?.status ?? {}))
      if (runs !== undefined && runs.count(name) > 0) runs.expectRestartCount(name, restartCount, 1);
  }

  /** Has the node hear of what has changed. */
  publish(world: NodeWorld): void {
    world.want(...this.pods);
  }
}

const uidOf = ({ metadata }: Pod): string => metadata?.uid ?? '';

function statusesOf({ initContainerStatuses = [], containerStatuses = [] }: Status) {
  return [...initContainerStatuses, ...containerStatuses];
}
