import type { ObjectMeta } from '../../../api/index.ts';
import type { EventRecorder, Subject } from '../../../client/events/index.ts';

function subjectOf(kind: Subject['kind'], { namespace = '', name = '', uid = '' }: ObjectMeta = {}): Subject {
  return { kind, namespace, name, uid };
}

/** The Events of the node controllers, in the reference's words. */
export interface LifecycleEvents {
  nodeRegistered(metadata: ObjectMeta | undefined): void;
  nodeRemoved(metadata: ObjectMeta | undefined): void;
  nodeNotReady(metadata: ObjectMeta | undefined): void;
  podEvicted(metadata: ObjectMeta | undefined): void;
  /** Its node is lost, so whether it runs is unknown. */
  podNotReady(metadata: ObjectMeta | undefined): void;
  /** The planned eviction of a pod is cancelled. */
  podStays(metadata: ObjectMeta | undefined): void;
}

export function createLifecycleEvents(events: EventRecorder): LifecycleEvents {
  const ofNode = (metadata: ObjectMeta = {}, reason: string, message: string) =>
    events.record('node-controller', subjectOf('Node', metadata), { type: 'Normal', reason, message });
  const ofPod = (metadata: ObjectMeta = {}, what: string) => {
    const message = `${what} Pod ${metadata.namespace}/${metadata.name}`;
    const happening = { type: 'Normal', reason: 'TaintManagerEviction', message } as const;
    events.record('taint-eviction-controller', subjectOf('Pod', metadata), happening);
  };
  const nameOf = (metadata: ObjectMeta | undefined) => metadata?.name ?? '';
  return {
    nodeRegistered: (metadata) =>
      ofNode(
        metadata,
        'RegisteredNode',
        formatMessage(metadata, `Registered Node ${nameOf(metadata)} in Controller`),
      ),
    nodeRemoved: (metadata) =>
      ofNode(
        metadata,
        'RemovingNode',
        formatMessage(metadata, `Removing Node ${nameOf(metadata)} from Controller`),
      ),
    nodeNotReady: (metadata) =>
      ofNode(metadata, 'NodeNotReady', `Node ${nameOf(metadata)} status is now: NodeNotReady`),
    podNotReady(metadata) {
      const happening = { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' } as const;
      events.record('node-controller', subjectOf('Pod', metadata), happening);
    },
    podEvicted: (metadata) => ofPod(metadata, 'Marking for deletion'),
    podStays: (metadata) => ofPod(metadata, 'Cancelling deletion of'),
  };
}

function formatMessage(metadata: ObjectMeta | undefined, what: string): string {
  return `Node ${metadata?.name} event: ${what}`;
}
