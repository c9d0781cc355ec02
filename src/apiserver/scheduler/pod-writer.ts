import type { Pod } from '../../api/index.ts';
import { formatTime, podKind, StatusError } from '../../api/index.ts';
import type { EventRecorder } from '../../client/events/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { ControllerOptions } from '../controllers/index.ts';
import { podBinding, runOperation } from '../registry/index.ts';
import type { PodFacts } from './cluster/pod-facts.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** What is written of a pod that has no node: that it is Unschedulable and why, and where it may come to run. */
export interface Report {
  readonly message: string;
  /** Undefined: nowhere. */
  readonly nominatedNode: string | undefined;
}

/** Writes to the API what became of pods. */
export class PodWriter {
  readonly #options: ControllerOptions;
  readonly #events: EventRecorder;
  readonly #name: string;

  /** `name`: of the scheduler, which reports the Events. */
  constructor(options: ControllerOptions, events: EventRecorder, name: string) {
    this.#options = options;
    this.#events = events;
    this.#name = name;
  }

  /** Gives the pod to the node, and says so. Throws when it cannot be. */
  async bind({ namespace, name, uid }: PodFacts, node: string): Promise<void> {
    const { registry } = this.#options;
    const body = { metadata: { name, namespace, uid }, target: { kind: 'Node', name: node } };
    await runOperation(podBinding, { registry, namespace, name, body, context });
    const message = `Successfully assigned ${namespace}/${name} to ${node}`;
    this.#events.record(this.#name, subjectOf({ namespace, name, uid }), {
      ...{ type: 'Normal', reason: 'Scheduled', message },
    });
  }

  /** Writes the condition PodScheduled; returns false, and does nothing, for a pod that is gone or has a node. */
  async report({ namespace, name, uid }: PodFacts, { message, nominatedNode }: Report): Promise<boolean> {
    const { registry, clock } = this.#options;
    let isWanted = false;
    const make = (pod: Pod): Pod => {
      isWanted = pod.metadata?.uid === uid && !pod.spec?.nodeName;
      if (!isWanted) return pod;
      return unscheduled(pod, message, nominatedNode, clock.now());
    };
    try {
      await registry
        .of(podKind)
        .change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
      return isWanted;
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return false;
      throw error;
    }
  }

  /** Says that the pod has no node, and why. */
  tell(pod: PodFacts, message: string): void {
    this.#events.record(this.#name, subjectOf(pod), { type: 'Warning', reason: 'FailedScheduling', message });
  }

  /** Says that a pod ends for another one. */
  tellPreempted(pod: PodFacts, by: PodFacts, node: string): void {
    const message = `Preempted by pod ${by.uid} on node ${node}`;
    this.#events.record(this.#name, subjectOf(pod), { type: 'Normal', reason: 'Preempted', message });
  }
}

function subjectOf({ namespace, name, uid }: Pick<PodFacts, 'namespace' | 'name' | 'uid'>) {
  return { kind: 'Pod', namespace, name, uid } as const;
}

const type = 'PodScheduled';

function unscheduled(pod: Pod, message: string, nominatedNode: string | undefined, now: number): Pod {
  const { conditions = [], nominatedNodeName: _before, ...status } = pod.status ?? {};
  const before = conditions.find((each) => each.type === type);
  const condition = {
    ...{ type, status: 'False', reason: 'Unschedulable', message },
    lastTransitionTime:
      (before?.status === 'False' ? before.lastTransitionTime : undefined) ?? formatTime(now),
    ...(before?.observedGeneration === undefined ? {} : { observedGeneration: before.observedGeneration }),
  };
  return {
    ...pod,
    status: {
      ...status,
      ...(nominatedNode === undefined ? {} : { nominatedNodeName: nominatedNode }),
      conditions: [...conditions.filter((each) => each.type !== type), condition],
    },
  };
}
