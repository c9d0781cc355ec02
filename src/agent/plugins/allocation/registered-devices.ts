import type { Clock } from '../../../base/index.ts';
import type { DeviceInventory } from '../devices/index.ts';

/** Ids of the devices of every resource. */
export type RegisteredIds = Readonly<Record<string, readonly string[]>>;

export interface RegisteredOptions {
  readonly inventory: DeviceInventory;
  readonly clock: Clock;
  /** Writes the result of take(); failures are logged and tried again by the state file. */
  readonly write: () => void;
}

/** The minimum time between two writes, for a plugin that changes its list all the time. */
const spacingMs = 1000;

/** The limit of all ids together; beyond it the resources with the longest lists are left out, so that the others are kept. */
const limitBytes = 8 * 1024 * 1024;

/**
 * Keeps the known devices across restarts of the agent. Without it a resource whose plugin does not come back would stay on
 * the node for ever, because it could not be distinguished from one that another client has put there.
 */
export class RegisteredDevices implements Disposable {
  readonly #options: RegisteredOptions;
  readonly #closing = new AbortController();
  readonly #watch: Disposable;
  #isStarted = false;
  #isFollowing = false;
  #mayHaveChanged = false;
  #kept: string | undefined;

  constructor(options: RegisteredOptions) {
    this.#options = options;
    this.#watch = options.inventory.onChange(() => void this.#follow());
  }

  /** `kept` is the content of the file; undefined when there was none. Before this call nothing is written. */
  start(kept: RegisteredIds | undefined): void {
    this.#kept = kept && JSON.stringify(kept);
    this.#isStarted = true;
    void this.#follow();
  }

  /** Returns the present ids, which the caller writes. */
  take(): RegisteredIds {
    const now = listRegistered(this.#options.inventory);
    this.#kept = JSON.stringify(now);
    return now;
  }

  /** Writes the latest changes. */
  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
    this.#closing.abort();
    if (this.#isStarted) this.#writeChanged();
  }

  async #follow(): Promise<void> {
    this.#mayHaveChanged = true;
    if (this.#isFollowing || !this.#isStarted) return;
    this.#isFollowing = true;
    while (this.#mayHaveChanged && !this.#closing.signal.aborted) {
      this.#mayHaveChanged = false;
      this.#writeChanged();
      await this.#options.clock.sleep(spacingMs, this.#closing.signal);
    }
    this.#isFollowing = false;
  }

  #writeChanged(): void {
    if (JSON.stringify(listRegistered(this.#options.inventory)) !== this.#kept) this.#options.write();
  }
}

function listRegistered(inventory: DeviceInventory): RegisteredIds {
  const all = [...inventory.resources().values()].map(({ name, devices }) => {
    const ids = [...devices.keys()].sort();
    return { name, ids, bytes: ids.reduce((sum, id) => sum + Buffer.byteLength(id), 0) };
  });
  all.sort((a, b) => a.bytes - b.bytes);
  let bytes = 0;
  const tooMany = all.findIndex((each) => {
    bytes += each.bytes;
    return bytes > limitBytes;
  });
  const kept = tooMany < 0 ? all : all.slice(0, tooMany);
  kept.sort((a, b) => (a.name < b.name ? -1 : 1));
  return Object.fromEntries(kept.map(({ name, ids }) => [name, ids]));
}
