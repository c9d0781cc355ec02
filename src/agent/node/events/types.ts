import type { Pod } from '../../../api/index.ts';
import type { Happening, Subject } from '../../../client/events/index.ts';

/** Reports to the API what happens on this node. */
export interface EventRecorder {
  /** Queues it and returns at once; never throws. What cannot be written in time is dropped, and that is logged. */
  record(subject: Subject, happening: Happening): void;
}

/** Where there is no API: records nothing. */
export const silentRecorder: EventRecorder = { record: () => undefined };

/** The Node itself as the subject of an Event. */
export function nodeSubject(nodeName: string): Subject {
  return { kind: 'Node', namespace: '', name: nodeName, uid: nodeName };
}

/** A pod as the subject of an Event. */
export function podSubject({ metadata: { namespace = '', name = '', uid = '' } = {} }: Pod): Subject {
  return { kind: 'Pod', namespace, name, uid };
}
