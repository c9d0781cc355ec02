import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ProbeState, ProbeStates } from '../../../../src/agent/probes/machine.ts';
import { isToProbe, newState, withOutcome } from '../../../../src/agent/probes/machine.ts';
import type { ProbeKind } from '../../../../src/agent/probes/types.ts';
import { probeKinds } from '../../../../src/agent/probes/types.ts';
import type { Answer } from './prober-world.ts';
import { commandOf, ProberWorld } from './prober-world.ts';

/** By all outcomes, without a state: the last time that as many of a kind came in a row as are needed. */
function verdictOf(outcomes: readonly boolean[], successes: number, failures: number): boolean | undefined {
  let verdict: boolean | undefined;
  for (let end = 1; end <= outcomes.length; end += 1) {
    const last = outcomes[end - 1] ?? false;
    const needed = last ? successes : failures;
    const run = outcomes.slice(Math.max(0, end - needed), end);
    if (run.length === needed && run.every((each) => each === last)) verdict = last;
  }
  return verdict;
}

describe('the verdict of a probe', () => {
  test('is that of the last outcomes of a kind of which enough came in a row', () => {
    const threshold = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 30 }),
        threshold,
        threshold,
        (outcomes, successes, failures) => {
          const probe = { successThreshold: successes, failureThreshold: failures };
          const state = outcomes.reduce<ProbeState>(
            (before, each) => withOutcome(before, each, probe),
            newState,
          );
          assert.equal(state.verdict, verdictOf(outcomes, successes, failures));
        },
      ),
    );
  });

  test('needs one success and three failures where the probe does not say', () => {
    assert.equal(withOutcome(newState, true, {}).verdict, true);
    const twice = [false, false].reduce<ProbeState>(
      (before, each) => withOutcome(before, each, {}),
      newState,
    );
    assert.equal(twice.verdict, undefined);
    assert.equal(withOutcome(twice, false, {}).verdict, false);
  });
});

test('a probe is run only where its outcome can change something', () => {
  const state = fc.constantFrom(undefined, true, false).map((verdict) => ({ ...newState, verdict }));
  const maybe = fc.option(state, { nil: undefined });
  fc.assert(
    fc.property(maybe, maybe, maybe, fc.boolean(), (startup, readiness, liveness, isEnding) => {
      const all = { startup, readiness, liveness };
      const states: ProbeStates = Object.fromEntries(
        probeKinds.flatMap((kind) => (all[kind] === undefined ? [] : [[kind, all[kind]]])),
      );
      const isStarted = startup === undefined || startup.verdict === true;
      const wanted: Record<ProbeKind, boolean> = {
        startup: startup !== undefined && startup.verdict === undefined && !isEnding,
        readiness: readiness !== undefined && isStarted,
        liveness: liveness !== undefined && liveness.verdict !== false && isStarted && !isEnding,
      };
      for (const kind of probeKinds) assert.equal(isToProbe(kind, states, isEnding), wanted[kind], kind);
    }),
  );
});

type Happening =
  | { readonly does: 'pass'; readonly seconds: number }
  | { readonly does: 'stall'; readonly seconds: number }
  | { readonly does: 'setWall'; readonly seconds: number }
  | { readonly does: 'answer'; readonly kind: ProbeKind; readonly answer: Answer }
  | { readonly does: 'restart' }
  | { readonly does: 'freeze'; readonly isFrozen: boolean }
  | { readonly does: 'end' };

const seconds = fc.integer({ min: 1, max: 120 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: seconds.map((each) => ({ does: 'pass' as const, seconds: each })) },
  { weight: 1, arbitrary: seconds.map((each) => ({ does: 'stall' as const, seconds: each })) },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: -9999, max: 9999 })
      .map((each) => ({ does: 'setWall' as const, seconds: each })),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('answer' as const),
      kind: fc.constantFrom(...probeKinds),
      answer: fc.constantFrom<Answer>('ok', 'fails', 'absent', 'hangs'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'restart' as const }) },
  { weight: 1, arbitrary: fc.boolean().map((isFrozen) => ({ does: 'freeze' as const, isFrozen })) },
  { weight: 1, arbitrary: fc.constant({ does: 'end' as const }) },
);

/** What a container must hold to at each moment, whatever its probes were answered. */
class Model {
  readonly #world = new ProberWorld();
  readonly #answers: Record<ProbeKind, Answer> = { startup: 'ok', readiness: 'ok', liveness: 'ok' };
  readonly #spec = {
    startupProbe: { ...commandOf('startup'), periodSeconds: 3, failureThreshold: 4, timeoutSeconds: 2 },
    readinessProbe: { ...commandOf('readiness'), periodSeconds: 5, successThreshold: 2, timeoutSeconds: 1 },
    livenessProbe: { ...commandOf('liveness'), periodSeconds: 7, failureThreshold: 2, timeoutSeconds: 1 },
  };
  #number = 1;
  #isEnding = false;
  #answered: boolean[] = [];
  #fault: unknown;

  constructor() {
    this.#world.answer = (kind, id) => {
      try {
        this.#mayBeAsked(kind, id);
      } catch (error) {
        this.#fault ??= error; // the prober takes what is thrown here for a probe that cannot be run
      }
      const answer = this.#answers[kind];
      if (kind === 'startup' && answer !== 'absent') this.#answered.push(answer === 'ok');
      return answer;
    };
    this.#follow();
  }

  #mayBeAsked(kind: ProbeKind, id: string): void {
    assert.ok(!this.#world.frozen.has(id), 'it was asked while it stood still');
    assert.equal(id, this.#id, 'one that has ended was asked');
    assert.ok(!(this.#isEnding && kind !== 'readiness'), `${kind} was asked though it ends`);
    if (kind !== 'startup')
      assert.equal(this.#follow()?.startup, true, `${kind} was asked before it started`);
  }

  get #id(): string {
    return `c${this.#number}`;
  }

  #follow() {
    return this.#world.follow(this.#spec, { id: this.#id, isEnding: this.#isEnding });
  }

  async run(happenings: readonly Happening[]): Promise<void> {
    await using world = this.#world;
    for (const each of happenings) {
      await this.#do(each);
      this.#check();
    }
    await world.clock.advance(20_000);
    this.#check();
  }

  async #do(each: Happening): Promise<void> {
    const { clock, frozen } = this.#world;
    if (each.does === 'pass') await clock.advance(each.seconds * 1000);
    else if (each.does === 'stall') await clock.stall(each.seconds * 1000);
    else if (each.does === 'setWall') clock.setWall(each.seconds * 1000);
    else if (each.does === 'answer') this.#answers[each.kind] = each.answer;
    else if (each.does === 'end') this.#isEnding = true;
    else if (each.does === 'freeze' && each.isFrozen) this.#world.freeze(this.#id);
    else if (each.does === 'freeze') frozen.clear();
    else {
      this.#number += 1;
      this.#answered = [];
    }
  }

  #check(): void {
    if (this.#fault !== undefined) throw this.#fault;
    const { startup, readiness, liveness } = this.#follow() ?? {};
    const rows = this.#answered.filter((isOk) => !isOk).length;
    if (startup === false) assert.ok(rows >= 4, 'given up after fewer failures than it may have');
    if (startup !== true) assert.deepEqual([readiness, liveness], [undefined, undefined]);
    const kinds = this.#world.probed.filter(({ id }) => id === this.#id).map(({ kind }) => kind);
    if (liveness === false) assert.ok(kinds.filter((kind) => kind === 'liveness').length >= 2);
  }
}

test('whatever is answered in whatever order, nothing is asked out of turn and nothing is given up early', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 25 }), (happenings) => new Model().run(happenings)),
    { numRuns: 60 },
  );
});
