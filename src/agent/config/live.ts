import { isDeepStrictEqual } from 'node:util';
import type { EffectiveConfig } from './effective.ts';
import { configFields } from './fields.ts';
import type { LoadedConfig } from './load.ts';
import { describeLoaded } from './load.ts';
import type { LocatedMap } from './located.ts';
import { mapOf, toPlain } from './located.ts';

/** The result of a reload. */
export interface Reloaded {
  /** The fields that have changed and count now. */
  readonly applied: readonly string[];
  /** The fields that have changed and count when the agent is started again. */
  readonly pending: readonly string[];
  readonly warnings: readonly string[];
}

export interface LiveOptions {
  readonly first: LoadedConfig;
  load(): Promise<LoadedConfig>;
  /** Checks what the next configuration needs from outside; rejects when it cannot be used. Returns how to switch to it. */
  prepare(next: EffectiveConfig): Promise<() => void>;
}

/** The configuration that the agent runs with, which can be loaded again. */
export class LiveConfig {
  readonly #options: LiveOptions;
  readonly #listeners = new Set<() => void>();
  #loaded: LoadedConfig;
  #pending: readonly string[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #queued: Promise<Reloaded> | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#loaded = options.first;
  }

  /** What counts now. */
  get current(): EffectiveConfig {
    return this.#loaded.config;
  }

  /** The same with the origins of its values. */
  get loaded(): LoadedConfig {
    return this.#loaded;
  }

  /** The fields that need a restart, as of the last reload. */
  get pending(): readonly string[] {
    return this.#pending;
  }

  /**
   * Reads everything again. Rejects, and nothing has changed, when something is wrong with it (ConfigError). Reloads run
   * one after the other; those that are asked for while one runs share the next, which reads what was written before.
   */
  reload(): Promise<Reloaded> {
    this.#queued ??= this.#last.then(() => {
      this.#queued = undefined;
      return this.#reload();
    });
    this.#last = this.#queued.catch(() => undefined);
    return this.#queued;
  }

  /** Calls `listener` after each reload, until disposed of. */
  onReload(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async #reload(): Promise<Reloaded> {
    const next = await this.#options.load();
    const changed = changedFields(this.#loaded, next);
    const pending = changed.filter((name) => isAmongFields(name) && configFields[name]?.needsRestart);
    const running = pending.length === 0 ? next : keepFields(this.#loaded, next, pending);
    const commit = await this.#options.prepare(running.config);
    commit();
    this.#loaded = running;
    this.#pending = pending;
    for (const listener of [...this.#listeners]) listener();
    const applied = changed.filter((name) => isAmongFields(name) && !pending.includes(name));
    return { applied, pending, warnings: next.warnings };
  }
}

const isAmongFields = (name: string) => Object.hasOwn(configFields, name);

function changedFields(before: LoadedConfig, next: LoadedConfig): string[] {
  const names = new Set([...before.merged.entries.keys(), ...next.merged.entries.keys()]);
  const plain = ({ merged }: LoadedConfig, name: string) => {
    const entry = merged.entries.get(name);
    return entry && toPlain(entry.value);
  };
  return [...names]
    .filter((name) => name !== 'apiVersion' && name !== 'kind')
    .filter((name) => !isDeepStrictEqual(plain(before, name), plain(next, name)))
    .sort();
}

/** The next configuration with `names` as they were before. */
function keepFields(before: LoadedConfig, next: LoadedConfig, names: readonly string[]): LoadedConfig {
  const isKept = (path: string) => names.includes(path.split('.', 1)[0] ?? '');
  const entriesOf = ({ merged }: { merged: LocatedMap }) => [...merged.entries];
  const merged = mapOf(
    [
      ...entriesOf(next).filter(([name]) => !isKept(name)),
      ...entriesOf(before).filter(([name]) => isKept(name)),
    ],
    next.merged.at,
  );
  const provenance = [
    ...next.provenance.filter(({ path }) => !isKept(path)),
    ...before.provenance.filter(({ path }) => isKept(path)),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  return describeLoaded(merged, provenance, [], next.files);
}
