import type { Backoff, Clock, Logger } from '../../base/index.ts';
import { createBackoff, untilAborted } from '../../base/index.ts';
import type { AttemptOutcome, AttemptParts } from './attempt.ts';
import { attemptRegistration, describeFault, notifyRegistered } from './attempt.ts';
import type { PluginMetrics } from './metrics.ts';
import type { FoundSocket, PluginHandler, PluginInfo, PluginSocket, PluginState } from './types.ts';

/*
 * One path in the folder. The socket at the path (`wanted`) may change at any time; the registration with the handler
 * (`held`) follows it, one step after another:
 *
 *     held is not of the wanted socket       → deregister
 *     nothing wanted                         → end
 *     nothing held                           → try to register, with growing waits
 *     held, but the plugin was not notified  → notify it, with growing waits
 *     otherwise                              → wait for a change
 *
 * A change aborts the step under way. After that either the handler has the plugin and `held` is set, or neither.
 */

export interface TrackedParts extends AttemptParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly metrics: PluginMetrics;
  readonly log: Logger;
  /** Called after a handler has deregistered a plugin. */
  onDeregistered(plugin: PluginInfo): void;
  /** Called when there is no socket at the path any more and nothing is held: it can be forgotten. */
  onEnd(): void;
}

const retry = { initialMs: 500, maxMs: 60_000, jitter: 0.2 };

/** The minimum time between two tries at one path, even when its socket is replaced again and again. */
const spacingMs = 250;

interface Held {
  readonly identity: string;
  readonly plugin: PluginInfo;
  readonly handler: PluginHandler;
  notified: boolean;
}

export class TrackedSocket {
  /** Resolves when the path has ended or is stopped; never rejects. */
  readonly ended: Promise<void>;
  readonly #parts: TrackedParts;
  readonly #backoff: Backoff;
  #wanted: FoundSocket | undefined;
  #held: Held | undefined;
  #stopped = false;
  /** Aborts the step under way: the wanted socket has changed, or the tracking stops. */
  #change = new AbortController();
  /** Aborts a wait before the next try. */
  #wake = new AbortController();
  /** When the plugin was asked last (monotonic). */
  #askedMs = -Infinity;
  /** The time of the next try (monotonic). */
  #dueMs = -Infinity;
  #status: PluginSocket;

  constructor(first: FoundSocket, parts: TrackedParts) {
    this.#parts = parts;
    this.#backoff = createBackoff({ ...retry, random: parts.random });
    this.#wanted = first;
    this.#status = { path: first.path, state: 'found', sinceMs: parts.clock.now(), attempts: 0 };
    this.ended = this.#run().catch((error: unknown) => {
      parts.log.error(
        { socket: first.path, err: error },
        `its registration is given up: ${describeFault(error)}`,
      );
    });
  }

  get status(): PluginSocket {
    return this.#status;
  }

  /** Sets the socket that is at the path now; undefined for none. The same socket again changes nothing. */
  want(socket: FoundSocket | undefined): void {
    if (this.#stopped || socket?.identity === this.#wanted?.identity) return;
    this.#wanted = socket;
    this.#backoff.reset();
    this.#dueMs = this.#askedMs + spacingMs;
    if (socket !== undefined && this.#held === undefined) this.#reset();
    this.#interrupt();
  }

  /** Retries a failed registration at once. */
  hurry(): void {
    if (this.#status.state !== 'failed') return;
    this.#dueMs = -Infinity;
    this.#wake.abort();
  }

  /** Cancels the step under way and starts no more; a registered plugin stays so. */
  stop(): void {
    this.#stopped = true;
    this.#interrupt();
  }

  #interrupt(): void {
    this.#change.abort();
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // the constructor returns before the first step
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
    this.#setState('gone', { nextTryMs: undefined });
    try {
      await handler.deregister(plugin);
    } catch (error) {
      this.#parts.log.warn(
        { socket: plugin.socket, err: error },
        `deregistering failed: ${describeFault(error)}`,
      );
    }
    this.#held = undefined;
    this.#reset();
    this.#parts.log.info(toLogFields(plugin), 'plugin deregistered');
    this.#parts.metrics.deregistered(plugin.type);
    this.#parts.onDeregistered(plugin);
  }

  async #try(wanted: FoundSocket): Promise<void> {
    const change = this.#change.signal;
    if (!(await this.#isDue())) return;
    const progress = {
      state: (state: PluginState, plugin?: PluginInfo) => this.#onState(state, plugin),
      registered: (plugin: PluginInfo, handler: PluginHandler) =>
        this.#hold({ identity: wanted.identity, plugin, handler, notified: false }),
    };
    this.#conclude(await attemptRegistration(wanted, this.#parts, progress, change));
  }

  /** Waits for a change while the plugin is registered, after it has been notified. */
  async #stay(held: Held): Promise<void> {
    const change = this.#change.signal;
    if (held.notified) return await untilAborted(change);
    if (!(await this.#isDue())) return;
    using peer = this.#parts.open(held.plugin.socket); // it has been opened before, so its path is good
    this.#conclude(await notifyRegistered(peer, change));
  }

  /** Waits for the time of the next try; false when a change came first. */
  async #isDue(): Promise<boolean> {
    const wake = this.#wake.signal;
    const waitMs = this.#dueMs - this.#parts.clock.monotonicMs();
    if (waitMs === Infinity) await untilAborted(wake);
    else if (waitMs > 0) await this.#parts.clock.sleep(waitMs, wake);
    return !wake.aborted;
  }

  #onState(state: PluginState, plugin: PluginInfo | undefined): void {
    if (state === 'asking') {
      this.#askedMs = this.#parts.clock.monotonicMs();
      this.#setState(state, { attempts: this.#status.attempts + 1, nextTryMs: undefined });
    } else this.#setState(state, { plugin });
  }

  #hold(held: Held): void {
    const { metrics, log, clock } = this.#parts;
    this.#held = held;
    this.#backoff.reset();
    this.#setState('registered', { plugin: held.plugin, lastError: undefined });
    log.info(toLogFields(held.plugin), 'plugin registered');
    metrics.registered(held.plugin.type, (clock.monotonicMs() - this.#askedMs) / 1000);
  }

  #conclude(outcome: AttemptOutcome): void {
    if (outcome.result === 'registered') this.#setNotified();
    else if (outcome.result === 'unnotified') this.#retryNotification(outcome.error);
    else if (outcome.result === 'failed') this.#fail(outcome.error, outcome.hopeless ?? false);
    else if (this.#held === undefined && this.#wanted !== undefined) this.#reset();
  }

  #setNotified(): void {
    if (this.#held !== undefined) this.#held.notified = true;
    this.#status = { ...this.#status, lastError: undefined, nextTryMs: undefined };
  }

  #retryNotification(lastError: string): void {
    const fields = { socket: this.#status.path };
    if (lastError !== this.#status.lastError) this.#parts.log.warn(fields, lastError);
    this.#status = { ...this.#status, lastError, nextTryMs: this.#scheduleRetry() };
  }

  #fail(lastError: string, isHopeless: boolean): void {
    const { metrics, log } = this.#parts;
    const fields = { socket: this.#status.path };
    const text = `plugin cannot be registered: ${lastError}`;
    if (lastError === this.#status.lastError) log.debug(fields, text);
    else log.warn(fields, text);
    metrics.failed(this.#status.plugin?.type);
    if (isHopeless) this.#dueMs = Infinity;
    this.#setState('failed', { lastError, nextTryMs: isHopeless ? undefined : this.#scheduleRetry() });
  }

  /** Schedules the next try, and returns its wall-clock time. */
  #scheduleRetry(): number {
    const waitMs = this.#backoff.next();
    this.#dueMs = this.#parts.clock.monotonicMs() + waitMs;
    return Math.round(this.#parts.clock.now() + waitMs);
  }

  /** Resets the status to that of a socket found just now. */
  #reset(): void {
    const { path } = this.#status;
    this.#status = { path, state: 'found', sinceMs: this.#parts.clock.now(), attempts: 0 };
  }

  #setState(state: PluginState, change: Partial<PluginSocket> = {}): void {
    this.#status = { ...this.#status, ...change, state, sinceMs: this.#parts.clock.now() };
  }
}

const toLogFields = ({ type, name, endpoint, versions, socket }: PluginInfo) => ({
  type,
  name,
  endpoint,
  versions: versions.join(' '),
  socket,
});
