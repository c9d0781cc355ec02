import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../support/repetition.ts';
import { below, randomFrom } from '../../../support/repetition.ts';
import type { PodNode } from '../pod-node.ts';
import { Life } from './life.ts';
import { doHarm } from './runtime-hand.ts';

/** Pods of one name, one after the other, harmed and ended at random; the last one comes to rest before it ends. */
export class Story {
  readonly name: string;
  readonly #lab: PodNode;
  readonly #random: Random;
  readonly #stop: AbortSignal;
  readonly #lives: Life[] = [];

  constructor(lab: PodNode, seed: number, stop: AbortSignal) {
    this.#stop = stop;
    this.name = `story-${seed}`;
    this.#lab = lab;
    this.#random = randomFrom(seed);
  }

  get lives(): readonly Life[] {
    return this.#lives;
  }

  async tell(): Promise<void> {
    let life = await this.#begin();
    const harms = below(4, this.#random);
    for (let round = 0; round < harms; round += 1) {
      await this.#wait();
      const dice = this.#random();
      if (dice < 0.7) await doHarm(this.#lab, life.uid, this.#random);
      else {
        // 0: its object goes at once, and its successor's comes while it still runs
        await life.askForEnd(dice < 0.8 ? 0 : below(4, this.#random));
        const before = life;
        life = await this.#begin();
        await before.untilGone();
      }
    }
    await life.calm();
    await life.untilAtRest();
    await life.askForEnd(this.#random() < 0.5 ? 1 : undefined);
    await life.untilGone();
  }

  async #begin(): Promise<Life> {
    const life = new Life(this.#lab, this.name, this.#lives.length, this.#random, this.#stop);
    this.#lives.push(life);
    await life.begin();
    return life;
  }

  async #wait(): Promise<void> {
    await sleep(below(2000, this.#random));
  }
}
