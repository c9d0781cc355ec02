import assert from 'node:assert/strict';
import type {
  CachedStore,
  Revision,
  Watch,
  WatchEnd,
  WatchStart,
} from '../../../src/apiserver/storage/index.ts';
import type { ChangingStore, Match } from './changing-store.ts';
import { TextEncoding } from './recording-sink.ts';
import { eventually } from './scenario.ts';
import { StrictSink } from './strict-sink.ts';

/** An event or a bookmark, with the revision that a client may go on from. */
interface Received {
  readonly revision: Revision;
  readonly event: string | undefined;
}

export interface Following {
  readonly prefix: string;
  readonly match: Match;
  readonly from: { readonly revision: Revision } | 'state';
}

const encoding = new TextEncoding();

/** Watches as a careful client does, and compares what it was sent with what was written. */
export class WatchFollower {
  readonly #world: ChangingStore<CachedStore>;
  readonly #wanted: Following;
  readonly #faults: string[] = [];
  /** The state from which it follows, when it began with one: what was sent of it. */
  #initial: string[] | undefined;
  /** After this revision everything was received. Undefined while the initial state is being sent. */
  #from: Revision | undefined;
  #received: Received[] = [];
  #sink: StrictSink | undefined;
  #watch: Watch | undefined;
  /** How each of its watches ended that it did not end itself. */
  readonly ends: WatchEnd[] = [];

  constructor(world: ChangingStore<CachedStore>, wanted: Following) {
    this.#world = world;
    this.#wanted = wanted;
    if (wanted.from === 'state') this.#followState();
    else this.#followExactly(wanted.from.revision);
  }

  stall(): void {
    if (this.#sink !== undefined) this.#sink.room = false;
  }

  resume(): void {
    if (this.#sink === undefined || this.#sink.room) return;
    this.#sink.room = true;
    this.#sink.resumed();
    this.#watch?.resume();
  }

  bookmark(): void {
    this.#watch?.bookmark();
  }

  /** Ends the watch, forgets the latest of what it was sent and goes on behind the rest. */
  leaveOff(index: number): void {
    this.#end();
    this.#received.length = index % (this.#received.length + 1);
    this.goOn();
  }

  /** Goes on where it is, now: its watch has ended, or ends hereby. */
  goOn(): void {
    this.#end();
    const at = this.#received.at(-1)?.revision ?? this.#from;
    if (at === undefined) this.#followState();
    else this.#watchFrom({ at: 'exact', revision: at });
  }

  /** When nothing is written any more: has come to the end, and was sent what was written. */
  async finish(): Promise<void> {
    this.resume();
    await eventually(`all events came; ${this.ends.join()}`, () => this.#isComplete());
    this.#end();
    assert.deepEqual(this.#faults, []);
    const { prefix, match } = this.#wanted;
    const from = this.#from ?? 0;
    if (this.#initial !== undefined)
      assert.deepEqual(this.#initial, this.#world.stateAt(from, prefix, match));
    const expected = this.#world.eventsAfter(from, prefix, match);
    assert.deepEqual(
      this.#received.flatMap(({ event }) => event ?? []),
      expected,
    );
    this.#checkBookmarks(expected);
  }

  #isComplete(): boolean {
    if (this.#faults.length > 0) return true;
    if (this.#from === undefined) return false;
    const { prefix, match } = this.#wanted;
    const sent = this.#received.filter(({ event }) => event !== undefined).length;
    return sent >= this.#world.eventsAfter(this.#from, prefix, match).length;
  }

  /** Whoever goes on from a bookmark misses nothing: all up to it was sent before. */
  #checkBookmarks(expected: readonly string[]): void {
    let sent = 0;
    for (const { event, revision } of this.#received) {
      if (event !== undefined) sent++;
      else
        assert.equal(
          expected.filter((line) => revisionOf(line) <= revision).length,
          sent,
          `bookmark ${revision}`,
        );
    }
  }

  #followState(): void {
    this.#initial = [];
    this.#from = undefined;
    this.#received = [];
    this.#watchFrom({ at: 'state', minRevision: 0, bookmark: true });
  }

  #followExactly(revision: Revision): void {
    this.#initial = undefined;
    this.#from = revision;
    this.#watchFrom({ at: 'exact', revision });
  }

  #watchFrom(start: WatchStart): void {
    const sink = new StrictSink(
      (event) => this.#take(event),
      (why) => this.#ended(why, sink),
    );
    this.#sink = sink;
    const { prefix, match } = this.#wanted;
    const matches = (object: Parameters<Parameters<CachedStore['watch']>[2]>[0]) =>
      match(Buffer.from(object.value).toString());
    this.#watch = this.#world.store.watch(prefix, start, matches, encoding, sink);
    sink.watched();
  }

  #end(): void {
    this.#watch?.[Symbol.dispose]();
    this.#watch?.[Symbol.dispose]();
    if (this.#sink !== undefined) this.#faults.push(...this.#sink.faults);
    this.#sink?.disposed();
    this.#watch = undefined;
  }

  #take(text: string): void {
    if (!text.startsWith('BOOKMARK')) {
      if (this.#from === undefined) this.#initial?.push(text);
      else this.#receive({ revision: revisionOf(text), event: text }, 1);
      return;
    }
    const [, revision = '', end] = text.split(' ');
    if (end !== undefined) this.#from = Number(revision);
    else this.#receive({ revision: Number(revision), event: undefined }, 0);
  }

  /** `growth`: how much greater its revision is than the one before, at least. */
  #receive(received: Received, growth: 0 | 1): void {
    const at = this.#received.at(-1)?.revision ?? this.#from ?? 0;
    if (received.revision < at + growth) this.#faults.push(`${JSON.stringify(received)} after ${at}`);
    this.#received.push(received);
  }

  #ended(why: WatchEnd, sink: StrictSink): void {
    this.ends.push(why);
    this.#faults.push(...sink.faults);
    if (sink !== this.#sink) this.#faults.push('an old watch has ended');
    if (why === 'failed') this.#faults.push('the watch failed');
    if (why !== 'expired' && why !== 'slow') return; // with `stop` the test goes on when it has opened again
    const at = this.#received.at(-1)?.revision ?? this.#from ?? 0;
    const isForgotten = at < this.#world.compacted;
    if (why === 'expired' && !isForgotten) this.#faults.push(`expired at ${at}, which is not forgotten`);
    queueMicrotask(() => {
      if (sink !== this.#sink) return; // it has left off meanwhile and goes on from elsewhere
      if (why === 'expired') this.#followState();
      else this.goOn();
    });
  }
}

function revisionOf(event: string): Revision {
  return Number(event.slice(event.lastIndexOf('@') + 1));
}
