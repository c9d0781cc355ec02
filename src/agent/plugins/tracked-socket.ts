import type { Backoff, Clock, Logger } from '../../base/index.ts';
import { createBackoff, untilAborted } from '../../base/index.ts';
import type { AttemptOutcome, AttemptParts } from './attempt.ts';
import { attempt, tellRegistered, words } from './attempt.ts';
import type { PluginMetrics } from './metrics.ts';
import type { FoundSocket, PluginHandler, PluginInfo, PluginSocket, PluginState } from './types.ts';

/*
 * One path in the folder. What stands there (`wanted`) changes at any time; what a handler has of it (`held`) follows, one
 * step after another:
 *
 *     held is not of the wanted socket  → deregister
 *     nothing wanted                    → the end
 *     nothing held                      → try, with growing waits
 *     held, yet the plugin was not told → tell it, with growing waits
 *     otherwise                         → wait for a change
 *
 * A change aborts the step that is under way, which then leaves behind either something held or nothing, never a doubt.
 */

export interface TrackedParts extends AttemptParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly metrics: PluginMetrics;
  readonly log: Logger;
  /** After a handler has given a plugin back. */
  onDeregistered(plugin: PluginInfo): void;
  /** Nothing stands at the path any more, and nothing is held: forget it. */
  onEnd(): void;
}

const retry = { initialMs: 500, maxMs: 60_000, jitter: 0.2 };

/** Between two tries at one path, also where it is made anew again and again. */
const spacingMs = 250;

interface Held {
  readonly identity: string;
  readonly plugin: PluginInfo;
  readonly handler: PluginHandler;
  told: boolean;
}

export class TrackedSocket {
  /** Resolves after the end or the stop; never rejects. */
  readonly ended: Promise<void>;
  readonly #parts: TrackedParts;
  readonly #backoff: Backoff;
  #wanted: FoundSocket | undefined;
  #held: Held | undefined;
  #stopped = false;
  /** Aborts when what is wanted changes, and with the stop. */
  #change = new AbortController();
  /** Aborts what merely waits. */
  #wake = new AbortController();
  /** Monotonic, as the next; when it was asked last. */
  #askedMs = -Infinity;
  /** Nothing is tried before. */
  #dueMs = -Infinity;
  #seen: PluginSocket;

  constructor(first: FoundSocket, parts: TrackedParts) {
    this.#parts = parts;
    this.#backoff = createBackoff({ ...retry, random: parts.random });
    this.#wanted = first;
    this.#seen = { path: first.path, state: 'found', sinceMs: parts.clock.now(), attempts: 0 };
    this.ended = this.#run().catch((error: unknown) => {
      parts.log.error({ socket: first.path, err: error }, `its registration is given up: ${words(error)}`);
    });
  }

  get seen(): PluginSocket {
    return this.#seen;
  }

  /** What stands at the path now; undefined for nothing. The same one again changes nothing. */
  want(socket: FoundSocket | undefined): void {
    if (this.#stopped || socket?.identity === this.#wanted?.identity) return;
    this.#wanted = socket;
    this.#backoff.reset();
    this.#dueMs = this.#askedMs + spacingMs;
    if (socket !== undefined && this.#held === undefined) this.#begin();
    this.#interrupt();
  }

  /** Tries at once what has failed. */
  hurry(): void {
    if (this.#seen.state !== 'failed') return;
    this.#dueMs = -Infinity;
    this.#wake.abort();
  }

  /** Gives up what is under way and begins nothing more; what is held stays held. */
  stop(): void {
    this.#stopped = true;
    this.#interrupt();
  }

  #interrupt(): void {
    this.#change.abort();
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // whoever made it has it before anything happens
    while (!this.#stopped) {
      this.#change = new AbortController();
      this.#wake = new AbortController();
      const [wanted, held] = [this.#wanted, this.#held];
      if (held !== undefined && held.identity !== wanted?.identity) await this.#deregister(held);
      else if (wanted === undefined) return this.#parts.onEnd();
      else if (held === undefined) await this.#try(wanted);
      else await this.#stay(held);
    }
  }

  async #deregister({ plugin, handler }: Held): Promise<void> {
    this.#turn('gone', { nextTryMs: undefined });
    try {
      await handler.deregister(plugin);
    } catch (error) {
      this.#parts.log.warn({ socket: plugin.socket, err: error }, `deregistering failed: ${words(error)}`);
    }
    this.#held = undefined;
    this.#begin();
    this.#parts.log.info(described(plugin), 'plugin deregistered');
    this.#parts.metrics.deregistered(plugin.type);
    this.#parts.onDeregistered(plugin);
  }

  async #try(wanted: FoundSocket): Promise<void> {
    const change = this.#change.signal;
    if (!(await this.#isDue())) return;
    const progress = {
      state: (state: PluginState, plugin?: PluginInfo) => this.#step(state, plugin),
      registered: (plugin: PluginInfo, handler: PluginHandler) =>
        this.#hold({ identity: wanted.identity, plugin, handler, told: false }),
    };
    this.#conclude(await attempt(wanted, this.#parts, progress, change));
  }

  /** Until something else is to be done than to be registered. */
  async #stay(held: Held): Promise<void> {
    const change = this.#change.signal;
    if (held.told) return await untilAborted(change);
    if (!(await this.#isDue())) return;
    using peer = this.#parts.open(held.plugin.socket); // it has been opened before, so its path is good
    this.#conclude(await tellRegistered(peer, change));
  }

  /** False where something has happened before the time came. */
  async #isDue(): Promise<boolean> {
    const wake = this.#wake.signal;
    const waitMs = this.#dueMs - this.#parts.clock.monotonicMs();
    if (waitMs === Infinity) await untilAborted(wake);
    else if (waitMs > 0) await this.#parts.clock.sleep(waitMs, wake);
    return !wake.aborted;
  }

  #step(state: PluginState, plugin: PluginInfo | undefined): void {
    if (state === 'asking') {
      this.#askedMs = this.#parts.clock.monotonicMs();
      this.#turn(state, { attempts: this.#seen.attempts + 1, nextTryMs: undefined });
    } else this.#turn(state, { plugin });
  }

  #hold(held: Held): void {
    const { metrics, log, clock } = this.#parts;
    this.#held = held;
    this.#backoff.reset();
    this.#turn('registered', { plugin: held.plugin, lastError: undefined });
    log.info(described(held.plugin), 'plugin registered');
    metrics.registered(held.plugin.type, (clock.monotonicMs() - this.#askedMs) / 1000);
  }

  #conclude(outcome: AttemptOutcome): void {
    if (outcome.result === 'registered') this.#told();
    else if (outcome.result === 'untold') this.#untold(outcome.error);
    else if (outcome.result === 'failed') this.#fail(outcome.error, outcome.hopeless ?? false);
    else if (this.#held === undefined && this.#wanted !== undefined) this.#begin();
  }

  #told(): void {
    if (this.#held !== undefined) this.#held.told = true;
    this.#seen = { ...this.#seen, lastError: undefined, nextTryMs: undefined };
  }

  #untold(lastError: string): void {
    const fields = { socket: this.#seen.path };
    if (lastError !== this.#seen.lastError) this.#parts.log.warn(fields, lastError);
    this.#seen = { ...this.#seen, lastError, nextTryMs: this.#delay() };
  }

  #fail(lastError: string, isHopeless: boolean): void {
    const { metrics, log } = this.#parts;
    const fields = { socket: this.#seen.path };
    const text = `plugin cannot be registered: ${lastError}`;
    if (lastError === this.#seen.lastError) log.debug(fields, text);
    else log.warn(fields, text);
    metrics.failed(this.#seen.plugin?.type);
    if (isHopeless) this.#dueMs = Infinity;
    this.#turn('failed', { lastError, nextTryMs: isHopeless ? undefined : this.#delay() });
  }

  /** Answers when the next try is, by the wall clock. */
  #delay(): number {
    const waitMs = this.#backoff.next();
    this.#dueMs = this.#parts.clock.monotonicMs() + waitMs;
    return Math.round(this.#parts.clock.now() + waitMs);
  }

  /** As if it were found just now. */
  #begin(): void {
    const { path } = this.#seen;
    this.#seen = { path, state: 'found', sinceMs: this.#parts.clock.now(), attempts: 0 };
  }

  #turn(state: PluginState, change: Partial<PluginSocket> = {}): void {
    this.#seen = { ...this.#seen, ...change, state, sinceMs: this.#parts.clock.now() };
  }
}

const described = ({ type, name, endpoint, versions, socket }: PluginInfo) => ({
  type,
  name,
  endpoint,
  versions: versions.join(' '),
  socket,
});
