/** The checker itself: histories that are known to be linearizable and that are known not to be. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type {
  Operation,
  RegisterInput,
  RegisterOutput,
  RegisterState,
} from '../../support/linearizability/index.ts';
import {
  checkHistory,
  registerModel,
  versionFault,
  versionTold,
} from '../../support/linearizability/index.ts';

type RegisterOperation = Operation<RegisterInput, RegisterOutput>;

const read: RegisterInput = { key: 'k', op: 'read' };
const absent: RegisterOutput = { saw: 'absent' };
const write = (expect: number | 'any', value: string | null): RegisterInput => {
  return { key: 'k', op: 'write', expect, value };
};
const sees = (value: string, version: number): RegisterOutput => ({ saw: { value, version } });
const done = (version?: number): RegisterOutput => ({ version });
const refused = (value: string, version: number): RegisterOutput => ({ refusedFor: { value, version } });

/** An operation from one time to another; without an output nobody knows how it ended. */
function between(from: number, to: number, input: RegisterInput, output?: RegisterOutput): RegisterOperation {
  const returnedAt = output === undefined ? Number.POSITIVE_INFINITY : to;
  return { client: 0, input, output, calledAt: from, returnedAt };
}

const unanswered = (from: number, input: RegisterInput) => between(from, 0, input);

describe('linearizable', () => {
  const histories: Record<string, RegisterOperation[]> = {
    'one after the other': [
      between(0, 1, read, absent),
      between(2, 3, write(0, 'a'), done(5)),
      between(4, 5, read, sees('a', 5)),
      between(6, 7, write(5, null), done(6)),
      between(8, 9, read, absent),
      between(10, 11, write(0, 'b'), done(7)),
    ],
    'a read beside a write sees the old or the new': [
      between(0, 10, write(0, 'a'), done(5)),
      between(1, 2, read, absent),
      between(3, 4, read, sees('a', 5)),
    ],
    'the first of two answers may come last': [
      between(0, 9, write(0, 'a'), done(5)),
      between(1, 2, write(5, 'b'), done(6)),
      between(3, 4, write(5, 'c'), refused('b', 6)),
    ],
    'what had no answer took place, late': [
      unanswered(0, write(0, 'a')),
      between(1, 2, read, absent),
      between(3, 4, read, sees('a', 5)),
      between(5, 6, write(5, 'b'), done(6)),
    ],
    'what had no answer took place and was overwritten unseen': [
      between(0, 1, write(0, 'a'), done(5)),
      unanswered(2, write(5, null)),
      between(3, 4, write(0, 'b'), done(7)),
    ],
    'what had no answer never took place': [
      unanswered(0, write(0, 'a')),
      between(1, 2, write(0, 'b'), done(5)),
      between(3, 4, read, sees('b', 5)),
    ],
    'a refusal that does not tell what is there': [
      between(0, 1, write(0, 'a'), done(5)),
      between(2, 3, write(0, 'b'), { refusedFor: 'present' }),
      between(4, 5, write('any', null), done()),
      between(6, 7, write(5, 'b'), { refusedFor: 'absent' }),
    ],
  };
  for (const [name, history] of Object.entries(histories)) {
    test(name, () => assert.equal(isLinearizable(history), true));
  }
});

describe('not linearizable', () => {
  const histories: Record<string, RegisterOperation[]> = {
    'a stale read': [
      between(0, 1, write(0, 'a'), done(5)),
      between(2, 3, write(5, 'b'), done(6)),
      between(4, 5, read, sees('a', 5)),
    ],
    'new, then old, beside one write': [
      between(0, 1, write(0, 'a'), done(5)),
      between(2, 20, write(5, 'b'), done(6)),
      between(3, 4, read, sees('b', 6)),
      between(5, 6, read, sees('a', 5)),
    ],
    'a lost update': [
      between(0, 1, write(0, 'a'), done(5)),
      between(2, 9, write(5, 'b'), done(6)),
      between(3, 8, write(5, 'c'), done(7)),
    ],
    'what was answered is gone after a crash': [
      between(0, 1, write(0, 'a'), done(5)),
      unanswered(2, write(5, 'b')),
      between(3, 4, read, absent),
    ],
    'what had no answer took place twice': [
      unanswered(0, write(0, 'a')),
      between(1, 2, read, sees('a', 5)),
      between(3, 4, write(5, null), done(6)),
      between(5, 6, read, sees('a', 7)),
    ],
    'a value from nowhere': [between(0, 1, read, sees('a', 5))],
    'a value before it was written': [
      between(0, 1, read, sees('a', 5)),
      between(2, 3, write(0, 'a'), done(5)),
    ],
    'a version that goes back': [
      between(0, 1, write(0, 'a'), done(5)),
      between(2, 3, write(5, 'b'), done(4)),
    ],
    'one value at two versions': [between(0, 1, write(0, 'a'), done(5)), between(2, 3, read, sees('a', 6))],
    'a refusal without a reason': [
      between(0, 1, write(0, 'a'), done(5)),
      between(2, 3, write(5, 'b'), refused('a', 5)),
    ],
    'a creation over what is there': [
      between(0, 1, write(0, 'a'), done(5)),
      between(2, 3, write(0, 'b'), done(6)),
    ],
  };
  for (const [name, history] of Object.entries(histories)) {
    test(name, () => assert.equal(isLinearizable(history), false));
  }
});

describe('the search', () => {
  test('says what trying every order says', () => {
    const verdicts = { yes: 0, no: 0 };
    fc.assert(
      fc.property(fc.array(planned, { minLength: 3, maxLength: 6 }), fc.option(swap), (plans, swapped) => {
        const history = withSwap(perform(plans), swapped);
        const expected = fitsInSomeOrder(registerModel.initial, history);
        verdicts[expected ? 'yes' : 'no']++;
        assert.equal(isLinearizable(history), expected, JSON.stringify(history));
      }),
      { numRuns: 2_000 },
    );
    assert.ok(verdicts.yes > 100 && verdicts.no > 100, JSON.stringify(verdicts));
  });

  test('takes about as many steps as there are operations when hundreds overlap', () => {
    const plans = Array.from({ length: 400 }, (_, n): Plan => {
      const deed = n % 3 === 0 ? 'read' : 'update';
      return { deed, from: n, lasts: 8, at: (n * 7) % 8, isAnswered: n % 50 !== 49, happens: n % 100 !== 99 };
    });
    const verdict = checkHistory(registerModel, perform(plans));
    assert.ok(verdict.linearizable && verdict.steps < 20_000, JSON.stringify(verdict).slice(0, 300));
  });

  test('gives up rather than to go on for ever', () => {
    const history = Array.from({ length: 12 }, (_, n) => unanswered(n, write(0, `v${n}`)));
    const impossible = between(20, 21, read, sees('x', 1));
    assert.throws(() => checkHistory(registerModel, [...history, impossible], 5), /too large/);
  });
});

describe('versions', () => {
  const on = (key: string): RegisterInput => ({ key, op: 'write', expect: 0, value: 'x' });

  test('of writes that overlap may come in any order', () => {
    const history = [between(0, 5, on('a'), done(7)), between(1, 4, on('b'), done(6))];
    assert.equal(versionFault(history, versionTold), undefined);
  });

  test('must grow from one write to the next, whatever their keys', () => {
    const history = [between(0, 1, on('a'), done(7)), between(2, 3, on('b'), done(6))];
    assert.match(versionFault(history, versionTold) ?? '', /told 6 after 7/);
  });

  test('of a list must not be older than what was answered before', () => {
    const list: RegisterOutput = { saw: 'absent', at: 6 };
    const history = [between(0, 1, on('a'), done(7)), between(2, 3, { key: 'b', op: 'read' }, list)];
    assert.match(versionFault(history, versionTold) ?? '', /told 6 after 7/);
  });

  test('must not be given twice', () => {
    const history = [between(0, 5, on('a'), done(7)), between(1, 4, on('b'), done(7))];
    assert.match(versionFault(history, versionTold) ?? '', /7 was given twice/);
  });
});

function isLinearizable(history: readonly RegisterOperation[]): boolean {
  return checkHistory(registerModel, history).linearizable;
}

/** An operation of a simulated run: when it is called and answered, and when between the two it takes place. */
interface Plan {
  readonly deed: 'read' | 'update' | 'remove' | 'blind';
  readonly from: number;
  readonly lasts: number;
  readonly at: number;
  readonly isAnswered: boolean;
  /** Without an answer only. */
  readonly happens: boolean;
}

const planned: fc.Arbitrary<Plan> = fc.record({
  deed: fc.constantFrom('read', 'update', 'remove', 'blind'),
  from: fc.nat(12),
  lasts: fc.integer({ min: 1, max: 8 }),
  at: fc.nat(8),
  isAnswered: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  happens: fc.boolean(),
});

const swap = fc.record({ one: fc.nat(5), other: fc.nat(5) });

/** What a single copy answers when each operation takes place at its time. */
function perform(plans: readonly Plan[]): RegisterOperation[] {
  let state: RegisterState = registerModel.initial;
  let newest = 0;
  let isTold = true;
  const timed = plans.map((plan, n) => ({ ...plan, n, at: plan.from + Math.min(plan.at, plan.lasts - 0.5) }));
  return timed
    .toSorted((a, b) => a.at + a.n / 100 - (b.at + b.n / 100))
    .map(({ deed, n, from, lasts, isAnswered, happens }) => {
      // nobody can expect a version before somebody was told
      const input = isTold ? inputOf(deed, `v${n}`, state) : read;
      const [output, after] = answerOf(state, input, newest + 1);
      const next = isAnswered || happens ? after : state;
      isTold = isAnswered || (next === state && isTold);
      state = next;
      newest = Math.max(newest, state.newest);
      const times = [from + n / 100, from + lasts + n / 100] as const;
      return between(...times, input, isAnswered ? output : undefined);
    });
}

function inputOf(deed: Plan['deed'], value: string, { version = 0 }: RegisterState): RegisterInput {
  if (deed === 'read') return read;
  if (deed === 'blind') return write(0, value);
  return write(version, deed === 'update' ? value : null);
}

function answerOf(
  state: RegisterState,
  input: RegisterInput,
  version: number,
): [RegisterOutput, RegisterState] {
  const seen = state.value === null ? 'absent' : { value: state.value, version: state.version ?? 0 };
  if (input.op === 'read') return [{ saw: seen }, state];
  const refusal: RegisterOutput = { refusedFor: seen };
  const agrees = input.expect === state.version && (input.value !== null || seen !== 'absent');
  if (!agrees) return [refusal, state];
  const next = { value: input.value, version: input.value === null ? 0 : version, newest: version };
  return [{ version }, next];
}

/** Two operations get each other's answers, which mostly makes the history impossible. */
function withSwap(history: RegisterOperation[], swapped: { one: number; other: number } | null) {
  const one = history[swapped?.one ?? -1];
  const other = history[swapped?.other ?? -1];
  if (one?.output === undefined || other?.output === undefined) return history;
  if (one.input.op !== other.input.op) return history;
  return history.map((each) => {
    if (each === one) return { ...one, output: other.output };
    return each === other ? { ...other, output: one.output } : each;
  });
}

/** The definition, tried out: some unfinished operations left out, the others in some order that time allows. */
function fitsInSomeOrder(state: RegisterState, left: readonly RegisterOperation[]): boolean {
  if (left.every(({ output }) => output === undefined)) return true;
  const firstReturn = Math.min(...left.map(({ returnedAt }) => returnedAt));
  return left.some((operation) => {
    if (operation.calledAt > firstReturn) return false;
    const next = registerModel.step(state, operation.input, operation.output);
    return (
      next !== undefined &&
      fitsInSomeOrder(
        next,
        left.filter((other) => other !== operation),
      )
    );
  });
}
