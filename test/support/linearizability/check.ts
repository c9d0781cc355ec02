/**
 * Whether a history is linearizable: whether every operation can be given one moment between its call and its return
 * so that, in the order of those moments, each answer is what a single copy would have given.
 *
 * The search is that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993): place an operation that was
 * called before any unplaced one returned, if the model agrees; at a return that was not placed, step back. Lowe's
 * addition ("Testing for linearizability", 2017) makes it fast: the same set of placed operations with the same state is
 * never looked at twice. Since linearizability is local, each partition (a key) is searched by itself.
 *
 * An operation without an answer has no return: it is placed where it helps, or nowhere.
 */
import type { Event } from './events.ts';
import { EventList } from './events.ts';
import type { Operation } from './history.ts';

/** A single copy of what is tested. States are immutable. */
export interface Model<State, Input, Output> {
  readonly initial: State;
  /** Operations of different partitions do not touch each other. */
  partitionOf(input: Input): string;
  /** The state afterwards; undefined when this answer is impossible in `state`. Without an output any will do. */
  step(state: State, input: Input, output: Output | undefined): State | undefined;
  /** The same for equal states, and only for those. */
  nameOf(state: State): string;
}

export type Verdict<Input, Output> =
  | { readonly linearizable: true; readonly steps: number }
  | {
      readonly linearizable: false;
      readonly partition: string;
      /** The longest order that was found, and the operation that fits nowhere behind it. */
      readonly order: readonly Operation<Input, Output>[];
      readonly misfit: Operation<Input, Output>;
    };

/** Checks a history. Throws when it needs more than `limitSteps` steps (default a million), which proves nothing. */
export function checkHistory<State, Input, Output>(
  model: Model<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
  limitSteps = 1_000_000,
): Verdict<Input, Output> {
  let steps = 0;
  for (const [partition, own] of Map.groupBy(operations, ({ input }) => model.partitionOf(input))) {
    const search = new Search(model, own, limitSteps - steps);
    const failure = search.run();
    if (failure !== undefined) return { linearizable: false, partition, ...failure };
    steps += search.steps;
  }
  return { linearizable: true, steps };
}

interface Placed<State, Input, Output> {
  readonly call: Event<Input, Output>;
  readonly stateBefore: State;
}

class Search<State, Input, Output> {
  readonly #model: Model<State, Input, Output>;
  readonly #events: EventList<Input, Output>;
  readonly #limitSteps: number;
  readonly #seen = new Set<string>();
  readonly #order: Placed<State, Input, Output>[] = [];
  #state: State;
  /** A bit for every operation that is placed. */
  #placed = 0n;
  /** Answered operations that are not placed yet. */
  #open: number;
  #furthest: Omit<Extract<Verdict<Input, Output>, { linearizable: false }>, 'linearizable' | 'partition'>;
  steps = 0;

  constructor(
    model: Model<State, Input, Output>,
    operations: readonly Operation<Input, Output>[],
    limitSteps: number,
  ) {
    const [first] = operations;
    if (first === undefined) throw new TypeError('a history without operations');
    this.#model = model;
    this.#events = new EventList(operations);
    this.#limitSteps = limitSteps;
    this.#state = model.initial;
    this.#open = operations.filter(({ output }) => output !== undefined).length;
    this.#furthest = { order: [], misfit: first };
  }

  /** Undefined: there is an order. */
  run() {
    let event = this.#events.first;
    while (this.#open > 0) {
      if (event === undefined) throw new Error('an answered operation has no return');
      if (++this.steps > this.#limitSteps) throw new Error('the history is too large to be checked');
      if (event.kind === 'call') {
        event = this.#place(event) ? this.#events.first : event.next;
        continue;
      }
      this.#note(event);
      const back = this.#stepBack();
      if (back === undefined) return this.#furthest;
      event = back.next;
    }
    return undefined;
  }

  #place(call: Event<Input, Output>): boolean {
    const { input, output } = call.operation;
    const next = this.#model.step(this.#state, input, output);
    if (next === undefined) return false;
    const name = this.#model.nameOf(next);
    // what has no answer and no effect need not be placed
    if (output === undefined && name === this.#model.nameOf(this.#state)) return false;
    const placed = this.#placed | (1n << BigInt(call.id));
    const configuration = `${placed.toString(36)} ${name}`;
    if (this.#seen.has(configuration)) return false;
    this.#seen.add(configuration);
    this.#order.push({ call, stateBefore: this.#state });
    this.#events.take(call);
    this.#state = next;
    this.#placed = placed;
    if (output !== undefined) this.#open--;
    return true;
  }

  #stepBack(): Event<Input, Output> | undefined {
    const last = this.#order.pop();
    if (last === undefined) return undefined;
    const { call, stateBefore } = last;
    this.#events.putBack(call);
    this.#state = stateBefore;
    this.#placed &= ~(1n << BigInt(call.id));
    if (call.operation.output !== undefined) this.#open++;
    return call;
  }

  #note({ operation }: Event<Input, Output>): void {
    if (this.#order.length < this.#furthest.order.length) return;
    this.#furthest = { order: this.#order.map(({ call }) => call.operation), misfit: operation };
  }
}
