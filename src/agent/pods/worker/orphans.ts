import { BoundedMap } from '../../../base/index.ts';
import { agentAnnotation, fullName, isManifestSource, originOf, sourceAnnotation } from '../names.ts';
import type { PodRecord } from '../plan/index.ts';
import type { PodSource } from '../types.ts';
import type { PodView } from '../view/types.ts';
import { mayStillBeMade, newRecord } from './record.ts';
import type { WorkerParts } from './types.ts';

export interface OrphansOptions extends Pick<WorkerParts, 'view' | 'records' | 'clock' | 'log'> {
  /** All pods for this node, without mirrors. */
  readonly source: PodSource;
  /** Whether all sources have been heard; before, nothing is ended for being in none. */
  isComplete(): boolean;
  /** The uids of the pods that have a record; those that are removed here are taken out. */
  readonly recorded: Set<string>;
  hasWorker(uid: string): boolean;
  /** Ends what the runtime has of a pod. */
  begin(found: PodView, record: PodRecord, signal: AbortSignal): void;
  /**
   * Called before a record is removed without a worker: from then on something else must say that what the pod left is this
   * agent's. Resolves to whether it does.
   */
  onAbandoned(podUid: string): Promise<boolean>;
}

/** What the runtime, or a record, has of pods that no source has any more. */
export class Orphans {
  readonly #options: OrphansOptions;
  /** The uids of pods of others that have been logged of. */
  readonly #foreign = new BoundedMap<string, true>({ maxEntries: 1000 });

  constructor(options: OrphansOptions) {
    this.#options = options;
  }

  /**
   * What the runtime has of pods that this agent took up and no source has any more is ended; records of which nothing is left
   * are removed. Without a record a pod is another agent's, and is let be, unless it was made from a manifest that is ours.
   */
  async end(signal: AbortSignal): Promise<void> {
    const { view, records, recorded, clock, onAbandoned } = this.#options;
    for (const found of view.pods()) {
      if (!this.#isOrphan(found.uid)) continue;
      const isOurs = recorded.has(found.uid) || this.isPredecessor(found);
      if (isOurs) await this.#endOne(found, signal);
      else this.#logForeign(found);
    }
    for (const uid of [...recorded]) {
      if (signal.aborted || !this.#isOrphan(uid) || view.pod(uid) !== undefined) continue;
      const record = await records.read(uid);
      if (record !== undefined && mayStillBeMade(record, clock.now())) continue;
      if (!this.#isOrphan(uid) || view.pod(uid) !== undefined || !(await onAbandoned(uid))) continue;
      if (!this.#isOrphan(uid) || view.pod(uid) !== undefined) continue;
      recorded.delete(uid);
      await records.remove(uid);
    }
  }

  /** Whether another agent has run it from a manifest that is wanted here: it must end before ours begins. */
  isPredecessor({ uid, namespace, name, sandboxes }: PodView): boolean {
    const isStatic = sandboxes.some(({ annotations }) => isManifestSource(annotations[sourceAnnotation]));
    return (
      isStatic &&
      this.#options.source.pods().some((pod) => {
        const isSame = fullName(pod) === `${namespace}/${name}` && pod.metadata?.uid !== uid;
        return isSame && originOf(pod) !== 'api';
      })
    );
  }

  async #endOne(found: PodView, signal: AbortSignal): Promise<void> {
    const { records, clock, begin } = this.#options;
    const record = (await records.read(found.uid)) ?? { ...newRecord(clock.now()), isAdmitted: true };
    if (!signal.aborted && this.#isOrphan(found.uid)) begin(found, record, signal);
  }

  /** Asked again after each wait: what all sources and the runtime say meanwhile counts. */
  #isOrphan(uid: string): boolean {
    const { source, view, isComplete, hasWorker } = this.#options;
    if (!isComplete() || !view.isComplete() || hasWorker(uid)) return false;
    return !source.pods().some(({ metadata }) => metadata?.uid === uid);
  }

  /** Each once. */
  #logForeign({ uid, namespace, name, sandboxes }: PodView): void {
    if (this.#foreign.get(uid) !== undefined) return;
    this.#foreign.set(uid, true);
    const mark = sandboxes[0]?.annotations[agentAnnotation];
    const by = mark === undefined ? '' : ` but by that of ${JSON.stringify(mark)}`;
    this.#options.log.info(
      `pod ${namespace}/${name} (${uid}) runs in the container runtime, was not started by this agent${by} and is meant for no pod of this node: it is let be`,
    );
  }
}
