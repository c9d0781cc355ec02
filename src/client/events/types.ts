import type { Event } from '../../api/index.ts';

/** What an Event is about. */
export interface Subject {
  /** Default `v1`. */
  readonly apiVersion?: string;
  readonly kind: string;
  /** Empty for an object of the cluster; its Events stand in `default`. */
  readonly namespace: string;
  readonly name: string;
  /** Of a Node its name, where a node agent reports it, as in the reference. */
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
  /** Of the Event; what happens again keeps those of its first time. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Records what happens as Events of the API. */
export interface EventRecorder {
  /**
   * Queues an Event and returns at once; never throws. What cannot be written in time is dropped, and that is logged.
   * `component`: who reports it, by the reference's name.
   */
  record(component: string, subject: Subject, happening: Happening): void;
  /** Writes until `signal` aborts; what is queued then is not written. */
  run(signal: AbortSignal): Promise<void>;
}

export interface EventPlace {
  readonly namespace: string;
  readonly name: string;
}

/** What is counted up of an Event. */
export interface WrittenEvent {
  readonly count?: number;
  readonly lastTimestamp?: string;
}

/** An Event that is there and happened again. */
export interface CountedEvent extends EventPlace {
  /** In all. */
  readonly count: number;
  readonly lastTimestamp: string;
}

/** The way to the API. All reject with a StatusError when the API refuses, with anything when it cannot be reached. */
export interface EventWriter {
  /** Rejects with AlreadyExists where one of its name is there. */
  create(event: Event, signal: AbortSignal): Promise<void>;
  /** How it is there now; undefined where it has expired. */
  read(place: EventPlace, signal: AbortSignal): Promise<WrittenEvent | undefined>;
  /** Rejects with NotFound where the Event has expired. */
  countUp(event: CountedEvent, signal: AbortSignal): Promise<void>;
}

/** `refused` by the API, `limited`: too many about one object, `dropped`: too many queued. */
export type EventOutcome = 'written' | 'refused' | 'limited' | 'dropped';
