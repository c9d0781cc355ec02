import { isDeepStrictEqual } from 'node:util';
import type { EffectiveConfig } from './effective.ts';
import type { LoadedConfig } from './load.ts';
import { describeLoaded } from './load.ts';
import type { LocatedMap } from './located.ts';
import { mapOf, toPlain } from './located.ts';
import type { ConfigField } from './schema.ts';
import { actingNames } from './schema.ts';

/** The fields that are read once, when the agent starts; the others count as soon as they are loaded. */
const atStart: readonly ConfigField[] = [
  'address',
  'port',
  'enableServer',
  'healthzPort',
  'healthzBindAddress',
  'containerRuntimeEndpoint',
  'imageServiceEndpoint',
  'runtimeRequestTimeout',
  'nodeLeaseDurationSeconds',
  'featureGates',
  'deviceManager',
  'staticPodPath',
  'fileCheckFrequency',
];

/** What came of a reload. */
export interface Reloaded {
  /** The fields that have changed and count now. */
  readonly applied: readonly string[];
  /** The fields that are stated otherwise than the agent runs with; they count when it is started again. */
  readonly pending: readonly string[];
  readonly warnings: readonly string[];
}

/** The configuration that the agent runs with, which can be loaded anew. */
export interface LiveConfig {
  /** What counts now. */
  readonly current: EffectiveConfig;
  /** The same with all that is told of it. */
  readonly loaded: LoadedConfig;
  /** As of the last reload. */
  readonly pending: readonly string[];
  /**
   * Reads everything again. Rejects, and nothing has changed, when something is wrong with it (ConfigError). Reloads run
   * one after the other; those that are asked for while one runs share the next, which sees what was written before.
   */
  reload(): Promise<Reloaded>;
  /** Calls `listener` after each reload, until disposed of. */
  onReload(listener: () => void): Disposable;
}

export interface LiveOptions {
  first: LoadedConfig;
  load(): Promise<LoadedConfig>;
  /** Looks at what the next configuration needs from outside; rejects when it cannot be used. Answers how to switch to it. */
  prepare(next: EffectiveConfig): Promise<() => void>;
}

export function createLiveConfig({ first, load, prepare }: LiveOptions): LiveConfig {
  const listeners = new Set<() => void>();
  let loaded = first;
  let pending: readonly string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let queued: Promise<Reloaded> | undefined;

  async function once(): Promise<Reloaded> {
    const next = await load();
    const changed = changedFields(loaded, next);
    const waiting = changed.filter((name) => isAtStart(name));
    const running = waiting.length === 0 ? next : keeping(loaded, next, waiting);
    const commit = await prepare(running.config);
    commit();
    loaded = running;
    pending = waiting;
    for (const listener of [...listeners]) listener();
    const applied = changed.filter((name) => !isAtStart(name) && actingNames.includes(name));
    return { applied, pending, warnings: next.warnings };
  }

  return {
    get current() {
      return loaded.config;
    },
    get loaded() {
      return loaded;
    },
    get pending() {
      return pending;
    },
    reload() {
      queued ??= last.then(() => {
        queued = undefined;
        return once();
      });
      last = queued.catch(() => undefined);
      return queued;
    },
    onReload(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

const isAtStart = (name: string) => atStart.some((field) => field === name);

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
function keeping(before: LoadedConfig, next: LoadedConfig, names: readonly string[]): LoadedConfig {
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
  return describeLoaded(merged, provenance, []);
}
