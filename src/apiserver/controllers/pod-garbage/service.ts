import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Pod } from '../../../api/index.ts';
import { podKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import type { AbandonedPods } from './abandoned-pods.ts';
import { createAbandonedPods, isGraceOver } from './abandoned-pods.ts';
import type { Cause } from './removal.ts';
import { createPodRemover } from './removal.ts';
import { mayHaveEnded } from './stored-text.ts';
import { listExcess } from './terminated-pods.ts';

export interface PodGarbageSettings {
  /** Domain prefix of the taint out-of-service; default `kubernetes.io`. */
  taintDomain?: string | undefined;
  /** How many terminated pods are kept; 0: all. Default 12,500, as in the reference. */
  terminatedPodThreshold?: number | undefined;
}

/** As in the reference. */
const sweepEveryMs = 20_000;
/** Pods checked before the event loop continues, and pods removed at once. */
const pageSize = 100;

/**
 * Removes the pods that no agent will remove:
 * - pods whose node does not exist: no agent runs them, and in deletion they would keep their namespaces for ever. The
 *   node must have been missing for 40 seconds of this process's own time;
 * - pods in deletion whose node is not ready and marked out of service by its operator;
 * - the oldest of the terminated pods beyond `terminatedPodThreshold`.
 */
export function podGarbage(options: ControllerOptions & { settings?: PodGarbageSettings }): Service {
  const { registry, storage, clock, log, settings = {} } = options;
  const { taintDomain = 'kubernetes.io', terminatedPodThreshold: threshold = 12_500 } = settings;
  const pods = registry.of(podKind);
  const remove = createPodRemover(options);
  /** Of single pods in this sweep; they do not stop the removal of others. */
  let failures: string[] = [];

  async function tryRemove(stored: Stored, pod: Pod, cause: Cause): Promise<void> {
    await remove(stored, pod, cause).catch((error: unknown) => {
      failures.push(`${stored.key.slice(pods.prefix('').length)}: ${describeError(error)}`);
    });
  }

  function warnOfFailures(): void {
    const [first] = failures;
    if (first !== undefined) warn(`${failures.length} of them, first ${first}`);
    failures = [];
  }

  function warn(why: string): void {
    log.warn(`pods that nobody runs could not be removed: ${why}`);
  }

  /** Removes the pod if it is abandoned. Returns its node when that is missing. */
  async function removeIfAbandoned(abandoned: AbandonedPods, stored: Stored): Promise<string | undefined> {
    const found = abandoned.check(stored);
    if (found?.cause !== undefined) await tryRemove(stored, found.pod, found.cause);
    return found?.missingNode;
  }

  async function removeEnded(key: string): Promise<void> {
    const stored = storage.get(key);
    if (stored === undefined) return;
    const pod = pods.encoding.read(stored);
    if (!isGraceOver(pod)) await tryRemove(stored, pod, { why: `more than ${threshold} pods have ended` });
  }

  async function removeAllEnded(candidates: readonly string[]): Promise<void> {
    const read = (key: string): Pod | undefined => {
      const stored = storage.get(key);
      return stored && pods.encoding.read(stored);
    };
    const keys = await listExcess(candidates, threshold, read);
    for (let at = 0; at < keys.length; at += pageSize) {
      await Promise.all(keys.slice(at, at + pageSize).map(removeEnded));
    }
  }

  async function sweep(abandoned: AbandonedPods, signal: AbortSignal): Promise<void> {
    const missing = new Set<string>();
    const ended: string[] = [];
    for (let after = ''; !signal.aborted; await yieldToEventLoop()) {
      const page = storage.list(pods.prefix(''), after, pageSize);
      const nodes = await Promise.all(page.items.map((stored) => removeIfAbandoned(abandoned, stored)));
      for (const node of nodes) if (node !== undefined) missing.add(node);
      if (threshold > 0) ended.push(...page.items.filter(mayHaveEnded).map(({ key }) => key));
      after = page.items.at(-1)?.key ?? '';
      if (page.remaining > 0) continue;
      abandoned.forgetAllBut(missing);
      return await removeAllEnded(ended);
    }
  }

  return {
    name: 'pod-garbage',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      using abandoned = createAbandonedPods(options, `node.${taintDomain}/out-of-service`);
      ready();
      while (!signal.aborted) {
        await sweep(abandoned, signal).catch((error: unknown) => warn(describeError(error)));
        warnOfFailures();
        await clock.sleep(sweepEveryMs, signal);
      }
    },
  };
}
