import { setImmediate as nextTurn } from 'node:timers/promises';
import { nodeKind, podKind, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Stored } from '../storage/index.ts';
import { namedNodes } from './named-nodes.ts';
import type { ControllerOptions } from './namespace-deletion.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** How long a node must have been missing, and how often is looked; as the reference. */
const missingMs = 40_000;
const sweepEveryMs = 20_000;
/** So many pods are looked at before others have their turn, and so many removed at once. */
const pageSize = 100;
/** Missing nodes that are timed at once: anybody can make up names. The others have their turn later. */
const timedLimit = 1000;

/**
 * Removes pods whose node does not exist: nobody runs them there, and once deleted they would hold their namespaces for
 * ever. A node must have been missing for 40 seconds of this process's own time.
 */
export function orphanedPods({ registry, storage, clock, log }: ControllerOptions): Service {
  const pods = registry.of(podKind);
  const nodePrefix = registry.of(nodeKind).prefix('');
  const missing = new MissingNodes();

  /** The node of a pod, when it does not exist and there is something to do about the pod. */
  function missingNode(stored: Stored): string | undefined {
    if (!namedNodes(stored).some(isMissing)) return undefined;
    const { metadata, spec } = pods.encoding.read(stored);
    const isEnded = metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
    return !isEnded && spec?.nodeName && isMissing(spec.nodeName) ? spec.nodeName : undefined;
  }

  function isMissing(node: string): boolean {
    return storage.get(nodePrefix + node) === undefined;
  }

  async function remove({ key, revision }: Stored, node: string): Promise<void> {
    const [namespace = '', name = ''] = key.slice(pods.prefix('').length).split('/');
    const deletion = { gracePeriodSeconds: 0, resourceVersion: `${revision}` };
    try {
      await pods.delete(namespace, name, deletion, context);
      log.info({ key, node }, 'a pod is removed: its node does not exist');
    } catch (error) {
      if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
    }
  }

  async function look(stored: Stored): Promise<string | undefined> {
    const node = missingNode(stored);
    if (node === undefined) return undefined;
    if (missing.lastsMs(node, clock.monotonicMs()) >= missingMs) await remove(stored, node);
    return node;
  }

  async function sweep(signal: AbortSignal): Promise<void> {
    const awaited = new Set<string | undefined>();
    for (let after = ''; !signal.aborted; await nextTurn()) {
      const page = storage.list(pods.prefix(''), after, pageSize);
      for (const node of await Promise.all(page.items.map(look))) awaited.add(node);
      after = page.items.at(-1)?.key ?? '';
      if (page.remaining === 0) return missing.forgetAllBut(awaited);
    }
  }

  return {
    name: 'orphaned-pods',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      using _listener = storage.onApply(({ key, next }) => {
        if (next !== null && key.startsWith(nodePrefix)) missing.forget(key.slice(nodePrefix.length));
      });
      ready();
      while (!signal.aborted) {
        await sweep(signal).catch((error: unknown) => {
          log.warn(`pods without a node could not be removed: ${describeError(error)}`);
        });
        await clock.sleep(sweepEveryMs, signal);
      }
    },
  };
}

/** How long nodes have been missing that pods are bound to. */
class MissingNodes {
  /** Monotonic. */
  readonly #sinceMs = new Map<string, number>();

  /** How long a node has been missing that is missing now. */
  lastsMs(node: string, nowMs: number): number {
    const sinceMs = this.#sinceMs.get(node) ?? nowMs;
    if (this.#sinceMs.size < timedLimit) this.#sinceMs.set(node, sinceMs);
    return nowMs - sinceMs;
  }

  forget(node: string): void {
    this.#sinceMs.delete(node);
  }

  forgetAllBut(nodes: ReadonlySet<string | undefined>): void {
    for (const node of this.#sinceMs.keys()) if (!nodes.has(node)) this.#sinceMs.delete(node);
  }
}
