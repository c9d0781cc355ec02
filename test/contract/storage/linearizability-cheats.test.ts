/** The proof of linearizability finds out registers that break it, each in its own way. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Held, Registers } from '../../support/linearizability/index.ts';
import { registerDeeds } from '../../support/linearizability/index.ts';
import type { Deeds } from './suite-linearizability.ts';
import { useAtOnce } from './suite-linearizability.ts';

const cheats = ['reads what was', 'does not compare', 'loses what it answered', 'versions go back'] as const;

describe('registers that cheat are found out', () => {
  const plan: Deeds = Array.from({ length: 4 }, (_, client) =>
    Array.from({ length: 30 }, (_each, n) => {
      const deed = registerDeeds[(n * 3 + client) % registerDeeds.length] ?? 'read';
      return { deed, key: n % 2 === 0 ? 'a' : 'b', compacts: false };
    }),
  );

  test('and honest ones are not', () => useAtOnce(new CheatingRegisters(undefined), plan));

  for (const cheat of cheats) {
    test(cheat, () =>
      assert.rejects(useAtOnce(new CheatingRegisters(cheat), plan), /not linearizable|was told/),
    );
  }
});

/** Registers in memory that keep their promises until their tenth write. */
class CheatingRegisters implements Registers {
  readonly #cheat: (typeof cheats)[number] | undefined;
  readonly #held = new Map<string, Held>();
  readonly #before = new Map<string, Held>();
  #version = 0;

  constructor(cheat: (typeof cheats)[number] | undefined) {
    this.#cheat = cheat;
  }

  async read(key: string) {
    await turn();
    const from = this.#cheats('reads what was') ? this.#before : this.#held;
    return { output: { saw: from.get(key) ?? 'absent' } } as const;
  }

  async write(key: string, expect: number | 'any', value: string | null) {
    await turn();
    const held = this.#held.get(key);
    const agrees = (held?.version ?? 0) === expect && (held !== undefined || value !== null);
    if (!agrees && !this.#cheats('does not compare')) {
      return { output: { refusedFor: held ?? 'absent' } } as const;
    }
    const version = ++this.#version;
    if (held !== undefined) this.#before.set(key, held);
    if (this.#cheats('loses what it answered')) return { output: { version } };
    if (value === null) this.#held.delete(key);
    else this.#held.set(key, { value, version });
    await turn();
    return { output: { version: this.#cheats('versions go back') ? version - 8 : version } };
  }

  #cheats(how: (typeof cheats)[number]): boolean {
    return this.#cheat === how && this.#version > 10;
  }
}
