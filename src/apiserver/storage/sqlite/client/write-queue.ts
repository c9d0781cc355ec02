import type { FailureCode, Outcome, Stored, Write } from '../../types.ts';
import { failure } from '../../write-checks.ts';
import type { ToWriter } from '../messages.ts';
import { BytesPacker } from '../packing.ts';

/** Bounds of the queue; beyond them the store is overloaded. */
const bounds = { writes: 16_384, bytes: 64 * 1024 * 1024 };

/** An accepted write that is not answered yet. */
export interface Pending {
  readonly write: Write;
  /** The previous state that the caller passed, when its revision is `expect`. */
  readonly previous: Stored | null | undefined;
  readonly resolve: (outcome: Outcome) => void;
}

/**
 * The queue in front of the writer thread. At most one write of each key is with the writer, the others of that key wait
 * here, so that each is compared with durable state. The writes that become ready within one turn of the event loop go in
 * one message.
 */
export class WriteQueue {
  readonly #send: (message: ToWriter) => void;
  /** The keys with a write that is ready or sent, each with its waiting writes. */
  readonly #busy = new Map<string, Pending[]>();
  #ready: Pending[] = [];
  #sent: Pending[] = [];
  #writes = 0;
  #bytes = 0;

  constructor(send: (message: ToWriter) => void) {
    this.#send = send;
  }

  submit(write: Write): Promise<Outcome> {
    if (this.#writes >= bounds.writes || this.#bytes >= bounds.bytes) {
      const message = `the store is overloaded: ${this.#writes} writes of ${this.#bytes} bytes wait for the disk`;
      return Promise.resolve(failure('unavailable', new Error(message)));
    }
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#enqueue({ write, previous: knownPrevious(write), resolve });
    return promise;
  }

  /** Sends the ready writes now. */
  flush(): void {
    if (this.#ready.length === 0) return;
    const batch = this.#ready;
    this.#ready = [];
    for (const pending of batch) this.#sent.push(pending);
    this.#send(messageOf(batch));
  }

  /** Takes the oldest `count` of the writes that were sent. The caller answers them by `settle`. */
  takeSent(count: number): readonly Pending[] {
    return this.#sent.splice(0, count);
  }

  settle(pending: Pending, outcome: Outcome): void {
    this.#release(pending);
    pending.resolve(outcome);
  }

  /** Answers everything with a failure: sent writes with `sentCode`, the others with `unavailable`. */
  failAll(sentCode: FailureCode, cause: Error): void {
    const sent = this.#sent;
    const waiting = [...this.#ready, ...[...this.#busy.values()].flat()];
    this.#sent = [];
    this.#ready = [];
    this.#busy.clear();
    this.#writes = 0;
    this.#bytes = 0;
    for (const pending of sent) pending.resolve(failure(sentCode, cause));
    for (const pending of waiting) pending.resolve(failure('unavailable', cause));
  }

  /** How many writes are not answered yet. */
  get size(): number {
    return this.#writes;
  }

  #enqueue(pending: Pending): void {
    const { key, value } = pending.write;
    this.#writes++;
    this.#bytes += value?.byteLength ?? 0;
    const behind = this.#busy.get(key);
    if (behind !== undefined) {
      behind.push(pending);
      return;
    }
    this.#busy.set(key, []);
    this.#makeReady(pending);
  }

  #makeReady(pending: Pending): void {
    this.#ready.push(pending);
    if (this.#ready.length === 1) setImmediate(() => this.flush());
  }

  #release({ write: { key, value } }: Pending): void {
    this.#writes--;
    this.#bytes -= value?.byteLength ?? 0;
    const behind = this.#busy.get(key);
    const next = behind?.shift();
    if (next === undefined) this.#busy.delete(key);
    else this.#makeReady(next);
  }
}

function knownPrevious({ key, expect, previous }: Write): Stored | null | undefined {
  if (expect === 0) return null;
  return previous?.key === key && previous.revision === expect ? previous : undefined;
}

function messageOf(batch: readonly Pending[]): ToWriter {
  const values = new BytesPacker();
  for (const { write } of batch) values.add(write.value);
  return {
    type: 'write',
    keys: batch.map(({ write }) => write.key),
    expects: batch.map(({ write }) => write.expect),
    deletions: batch.map(({ write }) => (write.value === null ? 1 : 0)),
    wantPrevious: batch.map(({ previous }) => (previous === undefined ? 1 : 0)),
    values: values.pack(),
  };
}
