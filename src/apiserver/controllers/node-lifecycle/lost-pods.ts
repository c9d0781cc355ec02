import type { Pod } from '../../../api/index.ts';
import { formatTime, podKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Change } from '../../storage/index.ts';
import { namedNodes } from '../named-nodes.ts';
import type { ControllerOptions } from '../namespace-deletion.ts';
import { createWorkQueue } from '../work-queue.ts';
import type { Telling } from './telling.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** Enough to share the store's group commits. */
const atOnce = 8;
/** There is no pod of such a key. */
const podsOf = 'pods of ';

/**
 * Nobody knows whether a pod still runs whose node is lost, so it is not ready: its condition Ready becomes False, and
 * what balances load leaves it out. It becomes True again when the node's agent says so.
 */
export interface LostPods {
  nodeChanged(name: string, isLost: boolean): void;
  /** Works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function lostPods(options: ControllerOptions & { tell: Pick<Telling, 'podNotReady'> }): LostPods {
  const { registry, storage, clock, log, tell } = options;
  const pods = registry.of(podKind);
  const prefix = pods.prefix('');
  const lost = new Set<string>();
  const queue = createWorkQueue({ work, atOnce, clock, log });

  async function work(key: string): Promise<void> {
    if (!key.startsWith(podsOf)) return await look(key);
    const listing = await pods.index('spec.nodeName')?.list(key.slice(podsOf.length), prefix, '');
    for (const pod of listing?.items ?? []) queue.add(pod.key);
  }

  /** By what is stored now. */
  function notReady(pod: Pod): Pod {
    return lost.has(pod.spec?.nodeName ?? '') ? withoutReadiness(pod, clock.now()) : pod;
  }

  async function look(key: string): Promise<void> {
    const stored = storage.get(key);
    const pod = stored && pods.encoding.read(stored);
    if (pod === undefined || notReady(pod) === pod) return;
    const { namespace = '', name = '', uid } = pod.metadata ?? {};
    const make = (now: Pod) => (now.metadata?.uid === uid ? notReady(now) : now);
    try {
      await pods.change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
    } catch (error) {
      // it is gone, or a rule has become stricter since it was made
      if (error instanceof StatusError && ['NotFound', 'Invalid'].includes(error.reason)) return;
      throw error;
    }
    tell.podNotReady(pod.metadata);
  }

  function podChanged({ key, next }: Change): void {
    if (lost.size === 0 || next === null || !key.startsWith(prefix)) return;
    for (const name of namedNodes(next)) if (lost.has(name)) queue.add(key);
  }

  return {
    nodeChanged(name, isLost) {
      if (!isLost) lost.delete(name);
      else if (!lost.has(name)) {
        lost.add(name);
        queue.add(podsOf + name);
      }
    },
    async run(signal) {
      using _listener = storage.onApply(podChanged);
      await queue.run(signal);
    },
  };
}

/** Reason and message stay as the agent wrote them, as in the reference. The same object when it is not ready anyway. */
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
