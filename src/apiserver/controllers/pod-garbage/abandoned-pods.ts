import type { Node, Pod } from '../../../api/index.ts';
import { nodeKind, podKind } from '../../../api/index.ts';
import { namedNodes } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { findReadable, isProvenAbsent } from '../presence.ts';
import type { Cause } from './removal.ts';
import { mayBeDeleted } from './stored-text.ts';

/** How long a node must have been missing; as in the reference. */
const missingMs = 40_000;

const orphaned: Cause = { why: 'its node does not exist', disruption: 'PodGC: node no longer exists' };
const outOfService: Cause = { why: 'it is deleted, and its node is out of service' };

/** A pod that no agent takes care of. */
export interface AbandonedPod {
  pod: Pod;
  /** Why it is removed now; undefined while its node has not been missing for long enough. */
  cause?: Cause;
  /** The missing node. */
  missingNode?: string;
}

export interface AbandonedPods extends Disposable {
  /** Undefined for a pod that is not abandoned. */
  check(stored: Stored): AbandonedPod | undefined;
  /** Whether it is certain that a node does not exist; rejects when that cannot be found out. */
  isProvenMissing(node: string): Promise<boolean>;
  /** Keeps the times of these missing nodes only. */
  forgetAllBut(missing: ReadonlySet<string>): void;
}

/** Finds pods whose node does not exist, and pods in deletion whose node has the taint `outOfServiceKey`. */
export function createAbandonedPods(
  { registry, storage, clock }: ControllerOptions,
  outOfServiceKey: string,
): AbandonedPods {
  const pods = registry.of(podKind);
  const nodes = registry.of(nodeKind);
  const prefix = nodes.prefix('');
  const missing = new MissingNodes();
  const forget = ({ key }: Stored) => missing.forget(key.slice(prefix.length));
  const following = nodes.follow({ added: forget, changed: forget });
  const isMissing = (node: string) => storage.lookup(prefix + node) === undefined;

  function isNodeOutOfService(node: string): boolean {
    const stored = findReadable(storage, prefix + node);
    return stored !== undefined && isOutOfService(nodes.encoding.read(stored), outOfServiceKey);
  }

  return {
    check(stored) {
      if (!namedNodes(stored).some(isMissing) && !mayBeDeleted(stored)) return undefined;
      const pod = pods.encoding.read(stored);
      const { nodeName } = pod.spec ?? {};
      if (!nodeName || isGraceOver(pod)) return undefined;
      if (isMissing(nodeName)) {
        const isOver = missing.measureMs(nodeName, clock.monotonicMs()) >= missingMs;
        return { pod, missingNode: nodeName, ...(isOver ? { cause: orphaned } : {}) };
      }
      return isInDeletion(pod) && isNodeOutOfService(nodeName) ? { pod, cause: outOfService } : undefined;
    },
    isProvenMissing: (node) => isProvenAbsent(storage, prefix + node),
    forgetAllBut: (nodeNames) => missing.forgetAllBut(nodeNames),
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

function isInDeletion({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** Whether the pod's grace period is over: only finalizers keep it. */
export function isGraceOver(pod: Pod): boolean {
  return isInDeletion(pod) && pod.metadata?.deletionGracePeriodSeconds === 0;
}

function isOutOfService({ spec, status }: Node, taint: string): boolean {
  const isReady = status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True');
  return !isReady && (spec?.taints ?? []).some(({ key }) => key === taint);
}

/** Missing nodes that are timed at once: clients can invent any number of names. Further ones are timed later. */
const maxTimed = 1000;

/** How long the missing nodes have been missing to which pods are bound. */
class MissingNodes {
  /** Monotonic. */
  readonly #sinceMs = new Map<string, number>();

  /** How long a missing node has been missing; the first call begins to measure. */
  measureMs(node: string, nowMs: number): number {
    const sinceMs = this.#sinceMs.get(node) ?? nowMs;
    if (this.#sinceMs.size < maxTimed) this.#sinceMs.set(node, sinceMs);
    return nowMs - sinceMs;
  }

  forget(node: string): void {
    this.#sinceMs.delete(node);
  }

  forgetAllBut(nodes: ReadonlySet<string>): void {
    for (const node of this.#sinceMs.keys()) if (!nodes.has(node)) this.#sinceMs.delete(node);
  }
}
