import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pod } from '../../../api/index.ts';
import { podKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import type { Abandoned } from './abandoned.ts';
import { abandonedPods, isEnding } from './abandoned.ts';
import { mayHaveEnded } from './marks.ts';
import type { Cause } from './removal.ts';
import { podRemoval } from './removal.ts';
import { endedBeyond } from './terminated.ts';

export interface PodGarbageSettings {
  /** Domain prefix of the taint out-of-service; default `kubernetes.io`. */
  taintDomain?: string | undefined;
  /** How many pods that have ended are kept; 0: all. Default 12,500, as the reference. */
  terminatedPodThreshold?: number | undefined;
}

/** As the reference. */
const sweepEveryMs = 20_000;
/** So many pods are looked at before others have their turn, and so many removed at once. */
const pageSize = 100;

/**
 * Removes pods that nobody else will: those whose node does not exist, as nobody runs them there, and once deleted they
 * would hold their namespaces for ever (the node must have been missing for 40 seconds of this process's own time);
 * deleted ones whose node is not ready and marked out of service by its operator; and the oldest of those that have
 * ended, when there are very many.
 */
export function podGarbage(options: ControllerOptions & { settings?: PodGarbageSettings }): Service {
  const { registry, storage, clock, log, settings = {} } = options;
  const { taintDomain = 'kubernetes.io', terminatedPodThreshold: threshold = 12_500 } = settings;
  const pods = registry.of(podKind);
  const remove = podRemoval(options);
  /** What went wrong with single pods in this sweep: it keeps no other pod. */
  let failures: string[] = [];

  async function tryRemove(stored: Stored, pod: Pod, cause: Cause): Promise<void> {
    await remove(stored, pod, cause).catch((error: unknown) => {
      failures.push(`${stored.key.slice(pods.prefix('').length)}: ${describeError(error)}`);
    });
  }

  function tellFailures(): void {
    const [first] = failures;
    if (first !== undefined) tell(`${failures.length} of them, first ${first}`);
    failures = [];
  }

  function tell(why: string): void {
    log.warn(`pods that nobody runs could not be removed: ${why}`);
  }

  /** The node that is missed for a pod. */
  async function look(abandoned: Abandoned, stored: Stored): Promise<string | undefined> {
    const finding = abandoned.find(stored);
    if (finding?.cause !== undefined) await tryRemove(stored, finding.pod, finding.cause);
    return finding?.missed;
  }

  async function removeEnded(key: string): Promise<void> {
    const stored = storage.get(key);
    if (stored === undefined) return;
    const pod = pods.encoding.read(stored);
    if (!isEnding(pod)) await tryRemove(stored, pod, { why: `more than ${threshold} pods have ended` });
  }

  async function removeAllEnded(candidates: readonly string[]): Promise<void> {
    const read = (key: string): Pod | undefined => {
      const stored = storage.get(key);
      return stored && pods.encoding.read(stored);
    };
    const keys = await endedBeyond(candidates, threshold, read);
    for (let at = 0; at < keys.length; at += pageSize) {
      await Promise.all(keys.slice(at, at + pageSize).map(removeEnded));
    }
  }

  async function sweep(abandoned: Abandoned, signal: AbortSignal): Promise<void> {
    const missed = new Set<string>();
    const ended: string[] = [];
    for (let after = ''; !signal.aborted; await nextTurn()) {
      const page = storage.list(pods.prefix(''), after, pageSize);
      const nodes = await Promise.all(page.items.map((stored) => look(abandoned, stored)));
      for (const node of nodes) if (node !== undefined) missed.add(node);
      if (threshold > 0) ended.push(...page.items.filter(mayHaveEnded).map(({ key }) => key));
      after = page.items.at(-1)?.key ?? '';
      if (page.remaining > 0) continue;
      abandoned.forgetAllBut(missed);
      return await removeAllEnded(ended);
    }
  }

  return {
    name: 'pod-garbage',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      using abandoned = abandonedPods(options, `node.${taintDomain}/out-of-service`);
      ready();
      while (!signal.aborted) {
        await sweep(abandoned, signal).catch((error: unknown) => tell(describeError(error)));
        tellFailures();
        await clock.sleep(sweepEveryMs, signal);
      }
    },
  };
}
