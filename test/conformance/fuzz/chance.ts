import { randomFrom } from '../../support/repetition.ts';

/** Repeatable choices: the same seed gives the same run. */
export class Chance {
  /** Returns a number from 0 up to, without, 1. */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = randomFrom(seed);
  }

  /** A whole number from 0 up to, without, `below`. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  oneIn(many: number): boolean {
    return this.below(many) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('there is nothing to choose from');
    return choice;
  }
}
