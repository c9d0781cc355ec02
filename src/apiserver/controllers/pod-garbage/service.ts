import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Pod } from '../../../api/index.ts';
import { podKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { findReadable, isUnreadable } from '../presence.ts';
import type { AbandonedPod, AbandonedPods } from './abandoned-pods.ts';
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

type PodGarbageOptions = ControllerOptions & { settings?: PodGarbageSettings };

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
export class PodGarbageService implements Service {
  readonly name = 'pod-garbage';
  readonly dependsOn: readonly string[] = [];
  readonly onFailure = 'restart';
  readonly #options: PodGarbageOptions;
  readonly #outOfServiceKey: string;
  readonly #threshold: number;
  readonly #pods: Resource<Pod>;
  readonly #remove: ReturnType<typeof createPodRemover>;
  /** Of single pods in this sweep; they do not stop the removal of others. */
  #failures: string[] = [];

  constructor(options: PodGarbageOptions) {
    const { taintDomain = 'kubernetes.io', terminatedPodThreshold = 12_500 } = options.settings ?? {};
    this.#options = options;
    this.#outOfServiceKey = `node.${taintDomain}/out-of-service`;
    this.#threshold = terminatedPodThreshold;
    this.#pods = options.registry.of(podKind);
    this.#remove = createPodRemover(options);
  }

  /** A field and not a method, since services are copied by spreading, which leaves methods out. */
  readonly run = async (signal: AbortSignal, ready: () => void): Promise<void> => {
    using abandoned = createAbandonedPods(this.#options, this.#outOfServiceKey);
    ready();
    while (!signal.aborted) {
      await this.#sweep(abandoned, signal).catch((error: unknown) => this.#warn(describeError(error)));
      this.#warnOfFailures();
      await this.#options.clock.sleep(sweepEveryMs, signal);
    }
  };

  async #sweep(abandoned: AbandonedPods, signal: AbortSignal): Promise<void> {
    const { storage } = this.#options;
    const missing = new Set<string>();
    const ended: string[] = [];
    for (let after = ''; !signal.aborted; await yieldToEventLoop()) {
      const page = storage.list(this.#pods.prefix(''), after, pageSize);
      const nodes = await Promise.all(page.items.map((stored) => this.#removeIfAbandoned(abandoned, stored)));
      for (const node of nodes) if (node !== undefined) missing.add(node);
      if (this.#threshold > 0) ended.push(...page.items.filter(mayHaveEnded).map(({ key }) => key));
      after = page.items.at(-1)?.key ?? '';
      if (page.remaining > 0) continue;
      abandoned.forgetAllBut(missing);
      return await this.#removeAllEnded(ended);
    }
  }

  /** Removes the pod if it is abandoned. Returns its node when that is missing. */
  async #removeIfAbandoned(abandoned: AbandonedPods, stored: Stored): Promise<string | undefined> {
    if (isUnreadable(this.#options.storage, stored.key)) return undefined;
    const found = abandoned.check(stored);
    if (found?.cause !== undefined && (await this.#isCertain(abandoned, found))) {
      await this.#tryRemove(stored, found.pod, found.cause);
    }
    return found?.missingNode;
  }

  async #isCertain(abandoned: AbandonedPods, { missingNode }: AbandonedPod): Promise<boolean> {
    return missingNode === undefined || (await abandoned.isProvenMissing(missingNode));
  }

  async #removeAllEnded(candidates: readonly string[]): Promise<void> {
    const read = (key: string): Pod | undefined => {
      const stored = this.#options.storage.get(key);
      return stored && this.#pods.encoding.read(stored);
    };
    const keys = await listExcess(candidates, this.#threshold, read);
    for (let at = 0; at < keys.length; at += pageSize) {
      await Promise.all(keys.slice(at, at + pageSize).map((key) => this.#removeEnded(key)));
    }
  }

  async #removeEnded(key: string): Promise<void> {
    const stored = findReadable(this.#options.storage, key);
    if (stored === undefined) return;
    const pod = this.#pods.encoding.read(stored);
    const why = `more than ${this.#threshold} pods have ended`;
    if (!isGraceOver(pod)) await this.#tryRemove(stored, pod, { why });
  }

  async #tryRemove(stored: Stored, pod: Pod, cause: Cause): Promise<void> {
    await this.#remove(stored, pod, cause).catch((error: unknown) => {
      this.#failures.push(`${stored.key.slice(this.#pods.prefix('').length)}: ${describeError(error)}`);
    });
  }

  #warnOfFailures(): void {
    const [first] = this.#failures;
    if (first !== undefined) this.#warn(`${this.#failures.length} of them, first ${first}`);
    this.#failures = [];
  }

  #warn(why: string): void {
    this.#options.log.warn(`pods that nobody runs could not be removed: ${why}`);
  }
}
