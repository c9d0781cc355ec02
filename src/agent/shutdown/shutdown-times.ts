import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import { describeError, Gauge } from '../../base/index.ts';
import type { StateRecord } from '../../base/state-file/index.ts';
import { openStateFile } from '../../base/state-file/index.ts';

export interface ShutdownTimesOptions {
  /** Of the state file. */
  readonly path: string;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Times {
  /** RFC 3339; without an end the shutdown was cut short, or goes on. */
  readonly startTime?: string;
  readonly endTime?: string;
}

/** The machine does not wait for a disk that hangs. */
const writeLimitMs = 1000;

/** When the last shutdown began and ended, as metrics and in a file, since the process ends with the machine. */
export class ShutdownTimes implements AsyncDisposable {
  readonly #options: ShutdownTimesOptions;
  readonly #file: ReturnType<typeof openStateFile<Times>>;
  readonly #gauges: { readonly start: Gauge; readonly end: Gauge };
  #times: Times = {};

  constructor(options: ShutdownTimesOptions) {
    this.#options = options;
    this.#file = openStateFile<Times>({ ...options, what: 'the last shutdown', parse });
    const registers = [options.metrics];
    const gauge = (what: 'start' | 'end') =>
      new Gauge({
        name: `kubelet_graceful_shutdown_${what}_time_seconds`,
        help: `When the last shutdown of the machine that waited for pods had its ${what}, as Unix time; 0: there was none.`,
        registers,
      });
    this.#gauges = { start: gauge('start'), end: gauge('end') };
  }

  /** Reads those of an earlier agent; never rejects. */
  async restore(): Promise<void> {
    const read = await this.#file.read();
    if (read.state === 'value') this.#set(read.value);
  }

  async begin(): Promise<void> {
    await this.#write({ startTime: this.#now() });
  }

  /** Resolves within a second, written or not. */
  async end(): Promise<void> {
    await this.#write({ ...this.#times, endTime: this.#now() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }

  #set(times: Times): void {
    this.#times = times;
    const seconds = (time: string | undefined) => (time === undefined ? 0 : Date.parse(time) / 1000);
    this.#gauges.start.set(seconds(times.startTime));
    this.#gauges.end.set(seconds(times.endTime));
  }

  async #write(times: Times): Promise<void> {
    this.#set(times);
    const settled = new AbortController();
    const written = this.#file
      .write(times)
      .catch((error: unknown) =>
        this.#options.log.warn(`the time of the shutdown cannot be kept: ${describeError(error)}`),
      )
      .finally(() => settled.abort());
    await Promise.race([written, this.#options.clock.sleep(writeLimitMs, settled.signal)]);
  }
}

function parse({ startTime, endTime }: StateRecord): Times {
  return { ...timeOf('startTime', startTime), ...timeOf('endTime', endTime) };
}

function timeOf(name: keyof Times, value: unknown): Times {
  if (value === undefined) return {};
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) throw new Error(`${name} is no time`);
  return { [name]: value };
}
