import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendSignal, waitFor } from '../../../support/index.ts';
import type { Random } from '../../../support/repetition.ts';
import { below } from '../../../support/repetition.ts';
import type { CallPoint } from '../../lab/index.ts';
import { controlPlaneOf } from '../../nodeward/index.ts';
import type { PodNode } from '../pod-node.ts';

/** Seconds since the boot. */
export function upSeconds(): number {
  return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
}

/** A time in which the agent may not have heard of the API. */
export interface Deafness {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** What befalls the whole node, one thing after the other. */
export class NodeFaults {
  readonly #lab: PodNode;
  readonly #random: Random;
  readonly #deafness: Deafness[] = [];
  readonly counts = { agentKilled: 0, runtimeKilled: 0, apiAway: 0 };

  constructor(lab: PodNode, random: Random) {
    this.#lab = lab;
    this.#random = random;
  }

  get deafness(): readonly Deafness[] {
    return this.#deafness;
  }

  /** So many, or until `signal` aborts; the node is whole then. On a slow machine pods get more time between two. */
  async run(times: number, signal: AbortSignal): Promise<void> {
    let pauseMs = 500;
    for (let done = 0; done < times; done += 1) {
      await sleep(pauseMs + below(1500, this.#random), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const fromSeconds = upSeconds();
      if (done % 4 === 1) await this.#killRuntime();
      else if (done % 4 === 2) await this.#takeApiAway();
      else await this.#killAgent(signal);
      const toSeconds = upSeconds();
      this.#deafness.push({ fromSeconds, toSeconds });
      pauseMs = (toSeconds - fromSeconds) * 1000;
    }
  }

  /** In the middle of one of the next calls that change something: before the runtime hears it, or after it has done it. */
  async #killAgent(signal: AbortSignal): Promise<void> {
    const { relay } = this.#lab;
    if (relay === undefined) throw new Error('the agent is killed at calls, which needs a relay');
    const point: CallPoint = this.#random() < 0.5 ? 'before' : 'after';
    const { agent } = this.#lab;
    let left = below(20, this.#random);
    const dead = Promise.withResolvers<void>();
    relay.onCall = async (_call, at) => {
      if (at !== point || left-- > 0) return;
      agent.process.signal('SIGKILL');
      dead.resolve();
      await agent.process.exited; // what comes back would be heard by nobody
    };
    // nothing may be left to do
    await Promise.race([dead.promise, sleep(2000, undefined, { signal }).catch(() => undefined)]);
    relay.onCall = () => undefined;
    await this.#lab.restartAgent('kill9');
    this.counts.agentKilled += 1;
  }

  async #killRuntime(): Promise<void> {
    await this.#lab.node.containerd.kill9();
    await sleep(below(1500, this.#random));
    await this.#lab.node.containerd.restart();
    this.counts.runtimeKilled += 1;
  }

  async #takeApiAway(): Promise<void> {
    const pid = await waitFor('a control plane', () => controlPlaneOf(this.#lab.agent.pid));
    sendSignal(pid, 'SIGSTOP');
    try {
      await sleep(500 + below(2500, this.#random));
    } finally {
      sendSignal(pid, 'SIGCONT');
    }
    this.counts.apiAway += 1;
  }
}
