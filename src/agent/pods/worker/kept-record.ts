import type { Clock } from '../../../base/index.ts';
import type { PodRecord } from '../plan/index.ts';
import type { WorkerParts } from './types.ts';

/** How long what the runtime has may be in no record; the next step often follows sooner. */
const noteMs = 1000;

/** The record of one pod: what counts now, and when it goes to disk. */
export class KeptRecord {
  readonly #records: WorkerParts['records'];
  readonly #clock: Clock;
  readonly #uid: string;
  #value: PodRecord;
  /** Whether it is to be written: with the next step that asks the runtime for something, or soon. */
  #isNoted: boolean;
  /** Nothing of the pod is left: its record is removed, and must not come back. */
  #isOver = false;

  /** `isWritten`: the record is on disk. */
  constructor({ records, clock }: WorkerParts, uid: string, value: PodRecord, isWritten: boolean) {
    this.#records = records;
    this.#clock = clock;
    this.#uid = uid;
    this.#value = value;
    this.#isNoted = !isWritten;
  }

  get value(): PodRecord {
    return this.#value;
  }

  /** Whether what counts is not on disk yet. */
  get isNoted(): boolean {
    return this.#isNoted;
  }

  /** Writes soon what was not written at the start. */
  start(signal: AbortSignal): void {
    if (this.#isNoted) this.#saveSoon(signal);
  }

  /** Keeps it now; it goes to disk with the next change. */
  replace(record: PodRecord): void {
    this.#value = record;
  }

  /** Keeps it now, and on disk as soon as that is possible. */
  change(record: PodRecord): void {
    if (record !== this.#value) void this.save(record).catch(() => undefined); // logged and tried again by the file
  }

  /** Keeps what the runtime has, which is on disk before anything is done to that. */
  note(record: PodRecord, signal: AbortSignal): void {
    if (record === this.#value) return;
    this.#value = record;
    if (!this.#isNoted) this.#saveSoon(signal);
    this.#isNoted = true;
  }

  /** Resolves when it is on disk. */
  async save(record: PodRecord): Promise<void> {
    this.#value = record;
    this.#isNoted = false;
    if (!this.#isOver) await this.#records.write(this.#uid, record);
  }

  /** Nothing is written from now on but by `remove`. */
  end(): void {
    this.#isNoted = false;
    this.#isOver = true;
  }

  /** `isLast` false: something of the pod may still come to be, and the record says whose it is. */
  async remove(isLast: boolean): Promise<void> {
    if (isLast) await this.#records.remove(this.#uid);
    else await this.#records.write(this.#uid, this.#value);
  }

  #saveSoon(signal: AbortSignal): void {
    void this.#clock.sleep(noteMs, signal).then(() => {
      if (this.#isNoted) void this.save(this.#value).catch(() => undefined); // logged and tried again by the file
    });
  }
}
