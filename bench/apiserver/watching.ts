import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Target } from './connection.ts';
import { cpuMs, machineMs } from './process-cost.ts';
import type { Order, Report } from './watcher-process.ts';

export interface Spread {
  /** From the writer's first byte until the last watcher has all, milliseconds. */
  minMs: number;
  p50Ms: number;
  p90Ms: number;
  /** Of the server, all threads, for all of it. */
  cpuMs: number;
}

const rounds = 40;
const warmUp = 10;

/** Many watchers in a process of their own. */
export class Watching implements Disposable {
  readonly #child = fork(join(import.meta.dirname, 'watcher-process.ts'));
  readonly #target: Target;
  readonly #count: number;

  private constructor(target: Target, count: number) {
    this.#target = target;
    this.#count = count;
  }

  static async open(target: Target, count: number, path: string): Promise<Watching> {
    const watching = new Watching(target, count);
    await watching.#ask({ open: count, path, target }, 'opened');
    return watching;
  }

  /** `write` makes so many events. */
  async measure(events: number, write: (round: number) => Promise<unknown>): Promise<Spread> {
    const tookMs: number[] = [];
    let cpuBefore = 0;
    for (let round = 0; round < rounds; round += 1) {
      if (round === warmUp) cpuBefore = await cpuMs(this.#target.pid);
      await this.#ask({ expect: events * this.#count }, 'ready');
      const last = this.#next('lastMs');
      const startedMs = machineMs();
      await write(round);
      const report = await last;
      if (round >= warmUp && 'lastMs' in report) tookMs.push(report.lastMs - startedMs);
    }
    const usedMs = (await cpuMs(this.#target.pid)) - cpuBefore;
    tookMs.sort((one, other) => one - other);
    const at = (share: number) => tookMs[Math.floor(tookMs.length * share)] ?? 0;
    return { minMs: at(0), p50Ms: at(0.5), p90Ms: at(0.9), cpuMs: usedMs / (rounds - warmUp) };
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }

  async #ask(order: Order, answer: string): Promise<void> {
    this.#child.send(order);
    await this.#next(answer);
  }

  async #next(what: string): Promise<Report> {
    for (;;) {
      const [report] = await once(this.#child, 'message');
      if (what in report) return report;
    }
  }
}
