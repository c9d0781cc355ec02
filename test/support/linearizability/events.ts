import type { Operation } from './history.ts';

/** A call or a return in a list from which operations are taken out and put back in constant time. */
export interface Event<Input, Output> {
  readonly operation: Operation<Input, Output>;
  /** Names the operation: 0, 1, … */
  readonly id: number;
  readonly kind: 'call' | 'return';
  /** Of a call, when it was answered. */
  returns: Event<Input, Output> | undefined;
  before: Event<Input, Output> | undefined;
  next: Event<Input, Output> | undefined;
}

/** All calls and returns in the order in which they were seen. An operation without an answer has no return. */
export class EventList<Input, Output> {
  first: Event<Input, Output> | undefined;

  constructor(operations: readonly Operation<Input, Output>[]) {
    const timed = operations.flatMap((operation, id) => eventsOf(operation, id));
    timed.sort((a, b) => a.at - b.at);
    let last: Event<Input, Output> | undefined;
    for (const { event } of timed) {
      event.before = last;
      if (last === undefined) this.first = event;
      else last.next = event;
      last = event;
    }
  }

  /** Takes out a call and its return. */
  take(call: Event<Input, Output>): void {
    this.#unlink(call);
    if (call.returns !== undefined) this.#unlink(call.returns);
  }

  /** Puts back what was taken last. */
  putBack(call: Event<Input, Output>): void {
    if (call.returns !== undefined) this.#link(call.returns);
    this.#link(call);
  }

  #unlink(event: Event<Input, Output>): void {
    if (event.before === undefined) this.first = event.next;
    else event.before.next = event.next;
    if (event.next !== undefined) event.next.before = event.before;
  }

  #link(event: Event<Input, Output>): void {
    if (event.before === undefined) this.first = event;
    else event.before.next = event;
    if (event.next !== undefined) event.next.before = event;
  }
}

function eventsOf<Input, Output>(operation: Operation<Input, Output>, id: number) {
  const unlinked = { operation, id, returns: undefined, before: undefined, next: undefined };
  const call: Event<Input, Output> = { ...unlinked, kind: 'call' };
  const calls = [{ at: operation.calledAt, event: call }];
  if (operation.output === undefined) return calls;
  call.returns = { ...unlinked, kind: 'return' };
  return [...calls, { at: operation.returnedAt, event: call.returns }];
}
