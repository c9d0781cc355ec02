import type { Node, Pod } from '../../../api/index.ts';
import { nodeKind, podKind } from '../../../api/index.ts';
import { namedNodes } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { mayBeGoing } from './marks.ts';
import type { Cause } from './removal.ts';

/** How long a node must have been missing; as the reference. */
const missingMs = 40_000;

const orphaned: Cause = { why: 'its node does not exist', disruption: 'PodGC: node no longer exists' };
const outOfService: Cause = { why: 'it is deleted, and its node is out of service' };

/** What is to be done about a pod that no agent looks after. */
export interface Finding {
  pod: Pod;
  /** Why it goes now; undefined while its node has not been missing for long enough. */
  cause?: Cause;
  /** The node that it waits for. */
  missed?: string;
}

export interface Abandoned extends Disposable {
  /** Undefined for a pod that there is nothing to do about. */
  find(stored: Stored): Finding | undefined;
  /** Keeps the time of no other nodes than these. */
  forgetAllBut(missed: ReadonlySet<string>): void;
}

/** Finds pods whose node does not exist, and deleted ones whose node is marked with the taint `outOfServiceKey`. */
export function abandonedPods(
  { registry, storage, clock }: ControllerOptions,
  outOfServiceKey: string,
): Abandoned {
  const pods = registry.of(podKind);
  const nodes = registry.of(nodeKind);
  const prefix = nodes.prefix('');
  const missing = new MissingNodes();
  const isThere = ({ key }: Stored) => missing.forget(key.slice(prefix.length));
  const following = nodes.follow({ added: isThere, changed: isThere });
  const isMissing = (node: string) => storage.get(prefix + node) === undefined;

  function isStranded(node: string): boolean {
    const stored = storage.get(prefix + node);
    return stored !== undefined && isOutOfService(nodes.encoding.read(stored), outOfServiceKey);
  }

  return {
    find(stored) {
      if (!namedNodes(stored).some(isMissing) && !mayBeGoing(stored)) return undefined;
      const pod = pods.encoding.read(stored);
      const { nodeName } = pod.spec ?? {};
      if (!nodeName || isEnding(pod)) return undefined;
      if (isMissing(nodeName)) {
        const isOver = missing.lastsMs(nodeName, clock.monotonicMs()) >= missingMs;
        return { pod, missed: nodeName, ...(isOver ? { cause: orphaned } : {}) };
      }
      return isGoing(pod) && isStranded(nodeName) ? { pod, cause: outOfService } : undefined;
    },
    forgetAllBut: (missed) => missing.forgetAllBut(missed),
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

function isGoing({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** Only finalizers keep it. */
export function isEnding(pod: Pod): boolean {
  return isGoing(pod) && pod.metadata?.deletionGracePeriodSeconds === 0;
}

function isOutOfService({ spec, status }: Node, taint: string): boolean {
  const isReady = status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True');
  return !isReady && (spec?.taints ?? []).some(({ key }) => key === taint);
}

/** Missing nodes that are timed at once: anybody can make up names. The others have their turn later. */
const timedLimit = 1000;

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

  forgetAllBut(nodes: ReadonlySet<string>): void {
    for (const node of this.#sinceMs.keys()) if (!nodes.has(node)) this.#sinceMs.delete(node);
  }
}
