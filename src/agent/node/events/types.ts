/** What an Event is about. */
export interface Subject {
  readonly kind: 'Node' | 'Pod';
  /** Empty for the Node; its Events stand in `default`. */
  readonly namespace: string;
  readonly name: string;
  /** Of a Node its name, as the reference's node agents have it. */
  readonly uid: string;
  /** The part that is meant, such as `spec.containers{app}`; default the whole. */
  readonly fieldPath?: string;
}

export interface Happening {
  readonly type: 'Normal' | 'Warning';
  /** One word in capitals and small letters, for programs. */
  readonly reason: string;
  /** For people; longer ones than 1 KiB are cut. */
  readonly message: string;
}

/** Tells the API what happens on this node. */
export interface EventRecorder {
  /** Takes note and returns at once; never throws. What cannot be told in time is dropped, and that is logged. */
  record(subject: Subject, happening: Happening): void;
}

/** Where there is no API: tells nobody. */
export const silentRecorder: EventRecorder = { record: () => undefined };

/** The Node itself as the subject of an Event. */
export function nodeSubject(nodeName: string): Subject {
  return { kind: 'Node', namespace: '', name: nodeName, uid: nodeName };
}
