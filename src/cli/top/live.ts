import type { Clock } from '../../base/index.ts';
import { createWaker, describeError } from '../../base/index.ts';
import type { Answers } from './answers.ts';
import type { SortKey } from './choice.ts';
import type { Absence } from './frame.ts';
import { renderFrame } from './frame.ts';
import type { Key } from './keys.ts';
import type { Look } from './look.ts';
import { readLook } from './look.ts';
import type { Screen } from './screen.ts';
import type { View } from './view.ts';
import { press } from './view.ts';

export interface LiveOptions {
  /** Rejects while the agent cannot be asked; must end when the signal aborts. */
  ask(signal: AbortSignal): Promise<Answers>;
  readonly clock: Clock;
  /** From one answer to the next question. */
  readonly intervalMs: number;
  readonly namespace: string;
  readonly pod: string;
  readonly sort: SortKey;
  readonly containers: boolean;
}

/** How long an answer may take before the agent counts as away; a runtime that is slow makes it slow. */
const slowMs = 5000;
/** While it is away, the screen says for how long. */
const tickMs = 1000;

/**
 * Asks again and again, and draws: after each answer, each key, each change of the size, and each second while the agent is away.
 * Then the last figures stay, greyed, and it is asked on at the same interval. While it is paused nothing is asked.
 */
export class LiveView {
  readonly #options: LiveOptions;
  readonly #waker: ReturnType<typeof createWaker>;
  readonly #ended = new AbortController();
  #screen: Screen | undefined;
  #look: Look;
  #view: View;
  #extent = { rows: 0, page: 0 };
  #absence: Absence | undefined;
  /** Monotonic and by the wall clock: since when an answer is waited for. */
  #asked: { readonly ms: number; readonly wallMs: number } | undefined;

  /** `first`: what the agent has answered already. */
  constructor(options: LiveOptions, first: Look) {
    const { sort, containers } = options;
    this.#options = options;
    this.#waker = createWaker(options.clock);
    this.#look = first;
    this.#view = { sort, containers, first: 0, filter: '', isTyping: false, isPaused: false };
  }

  /** Until the user quits or the signal aborts; what is under way is given up then. */
  async run(screen: Screen, stop: AbortSignal): Promise<void> {
    this.#screen = screen;
    const signal = AbortSignal.any([stop, this.#ended.signal]);
    this.draw();
    await Promise.all([this.#askOn(signal), this.#tickOn(signal)]);
  }

  readonly onKey = (key: Key): void => {
    const view = press(this.#view, key, this.#extent);
    if (view === undefined) {
      this.quit();
      return;
    }
    const goesOn = this.#view.isPaused && !view.isPaused;
    this.#view = view;
    if (goesOn) this.#waker.wake();
    this.draw();
  };

  readonly quit = (): void => this.#ended.abort();

  readonly draw = (): void => {
    const { clock, namespace, pod, intervalMs } = this.#options;
    const { figures } = this.#look;
    if (this.#screen === undefined) return;
    const { lines, extent } = renderFrame({
      ...{ figures, namespace, pod, intervalMs, view: this.#view, size: this.#screen.size },
      ...{ absence: this.#findAbsence(), nowMs: clock.now() },
    });
    this.#extent = extent;
    this.#screen.draw(lines);
  };

  async #askOn(signal: AbortSignal): Promise<void> {
    const { intervalMs } = this.#options;
    while (!signal.aborted) {
      await this.#waker.sleep(this.#view.isPaused ? Number.POSITIVE_INFINITY : intervalMs, signal);
      if (signal.aborted || this.#view.isPaused) continue;
      await this.#askOnce(signal);
      if (!signal.aborted) this.draw();
    }
  }

  async #askOnce(signal: AbortSignal): Promise<void> {
    const { clock, ask } = this.#options;
    this.#asked = { ms: clock.monotonicMs(), wallMs: clock.now() };
    try {
      this.#look = readLook(await ask(signal), clock.now(), this.#look);
      this.#absence = undefined;
    } catch (error) {
      this.#absence = { sinceMs: this.#absence?.sinceMs ?? this.#asked.wallMs, why: describeError(error) };
    }
    this.#asked = undefined;
  }

  #findAbsence(): Absence | undefined {
    const { ms, wallMs } = this.#asked ?? {};
    if (this.#absence !== undefined || ms === undefined || wallMs === undefined) return this.#absence;
    const isSlow = this.#options.clock.monotonicMs() - ms >= slowMs;
    return isSlow ? { sinceMs: wallMs, why: 'the agent does not answer' } : undefined;
  }

  async #tickOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(tickMs, signal);
      if (!signal.aborted && this.#findAbsence() !== undefined) this.draw();
    }
  }
}
