import type { Pod } from '../../../api/index.ts';
import { formatTime, podKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Resource } from '../../registry/index.ts';
import { namedNodes } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { WorkQueue } from '../work-queue.ts';
import type { LifecycleEvents } from './lifecycle-events.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** Enough to share the store's group commits. */
const atOnce = 8;
/** Queue keys that stand for all pods of a node; no pod has such a key. */
const podsOf = 'pods of ';

export type LostPodsOptions = ControllerOptions & { events: Pick<LifecycleEvents, 'podNotReady'> };

/**
 * Whether a pod on a lost node still runs is unknown, so it is not ready: its condition Ready becomes False, and load
 * balancers leave it out. It becomes True again when the node's agent reports so.
 */
export class LostPods {
  readonly #options: LostPodsOptions;
  readonly #pods: Resource<Pod>;
  readonly #lost = new Set<string>();
  readonly #queue: WorkQueue;

  constructor(options: LostPodsOptions) {
    const { registry, clock, log } = options;
    this.#options = options;
    this.#pods = registry.of(podKind);
    this.#queue = new WorkQueue({ work: (key) => this.#work(key), atOnce, clock, log });
  }

  nodeChanged(name: string, isLost: boolean): void {
    if (!isLost) this.#lost.delete(name);
    else if (!this.#lost.has(name)) {
      this.#lost.add(name);
      this.#queue.add(podsOf + name);
    }
  }

  /** Works until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const onWritten = (next: Stored) => this.#podChanged(next);
    using _following = this.#pods.follow({ added: onWritten, changed: onWritten });
    await this.#queue.run(signal);
  }

  #podChanged(next: Stored): void {
    if (this.#lost.size === 0) return;
    for (const name of namedNodes(next)) if (this.#lost.has(name)) this.#queue.add(next.key);
  }

  async #work(key: string): Promise<void> {
    if (!key.startsWith(podsOf)) return await this.#updatePod(key);
    const node = key.slice(podsOf.length);
    const listing = await this.#pods.index('spec.nodeName')?.list(node, this.#pods.prefix(''), '');
    for (const pod of listing?.items ?? []) this.#queue.add(pod.key);
  }

  /** The pod as it should be stored; the same object when nothing is to be changed. */
  #withReadiness(pod: Pod): Pod {
    return this.#lost.has(pod.spec?.nodeName ?? '') ? withoutReadiness(pod, this.#options.clock.now()) : pod;
  }

  async #updatePod(key: string): Promise<void> {
    const stored = this.#options.storage.get(key);
    const pod = stored && this.#pods.encoding.read(stored);
    if (pod === undefined || this.#withReadiness(pod) === pod) return;
    const { namespace = '', name = '', uid } = pod.metadata ?? {};
    const make = (now: Pod) => (now.metadata?.uid === uid ? this.#withReadiness(now) : now);
    try {
      await this.#pods.change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
    } catch (error) {
      // it is gone, or validation has become stricter since it was created
      if (error instanceof StatusError && ['NotFound', 'Invalid'].includes(error.reason)) return;
      throw error;
    }
    this.#options.events.podNotReady(pod.metadata);
  }
}

/** Reason and message stay as the agent wrote them, as in the reference. The same object when it is not ready already. */
function withoutReadiness(pod: Pod, now: number): Pod {
  const conditions = pod.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'False') return pod;
  const lastTransitionTime = formatTime(now);
  const changed = conditions.map((condition) =>
    condition === ready ? { ...condition, status: 'False', lastTransitionTime } : condition,
  );
  return { ...pod, status: { ...pod.status, conditions: changed } };
}
