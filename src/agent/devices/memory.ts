import { isRecord } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import type { StateFile } from '../state-file/index.ts';
import { openStateFile } from '../state-file/index.ts';
import type { Inventory } from './inventory.ts';
import { limits } from './limits.ts';
import { resourceNameFault } from './resource-name.ts';

interface Remembered {
  readonly resources: Readonly<Record<string, readonly string[]>>;
}

export interface MemoryOptions {
  /** Absolute path of the file. */
  readonly path: string;
  readonly inventory: Inventory;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Health and nearness change often and are not kept; ids change seldom. */
const spacingMs = 1000;

/**
 * Which devices there were, from one start of the agent to the next: without it a resource whose plugin does not come
 * back would stay on the node for ever, and nobody could tell it from one that others have put there. What was kept is in
 * the inventory, unhealthy, when `loaded` is called; then changes are kept until the signal aborts. Never rejects.
 */
export async function keepMemory(
  options: MemoryOptions,
  loaded: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { path, inventory, clock, log } = options;
  await using file = openStateFile<Remembered>({ path, what: 'devices of this node', parse, clock, log });
  const read = await file.read();
  const before = read.state === 'value' ? read.value.resources : {};
  for (const [name, ids] of Object.entries(before)) inventory.remembered(name, ids);
  loaded();
  await keepChanges(options, file, signal);
}

async function keepChanges(
  { inventory, clock }: MemoryOptions,
  file: StateFile<Remembered>,
  signal: AbortSignal,
): Promise<void> {
  let kept = JSON.stringify(snapshot(inventory));
  let wake = new AbortController();
  using _follow = inventory.onChange(() => wake.abort());
  for (;;) {
    const now = snapshot(inventory);
    const text = JSON.stringify(now);
    if (text !== kept) void file.write(now).catch(() => undefined); // it is told in the log and tried again
    kept = text;
    if (signal.aborted) return;
    await clock.sleep(spacingMs, signal);
    if (JSON.stringify(snapshot(inventory)) !== kept) continue;
    wake = new AbortController();
    await clock.sleep(Number.POSITIVE_INFINITY, AbortSignal.any([signal, wake.signal]));
  }
}

function snapshot(inventory: Inventory): Remembered {
  const resources = [...inventory.resources().values()].map(
    ({ name, devices }) => [name, [...devices.keys()].sort()] as const,
  );
  return { resources: Object.fromEntries(resources.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function parse(members: Readonly<Record<string, unknown>>): Remembered {
  const { resources } = members;
  if (!isRecord(resources)) throw new Error('has no resources');
  const entries = Object.entries(resources).map(([name, ids]) => {
    if (resourceNameFault(name) !== undefined)
      throw new Error(`names ${JSON.stringify(name)}, which is no resource`);
    if (!isIds(ids)) throw new Error(`has no list of ids for ${name}`);
    return [name, ids] as const;
  });
  if (entries.length > limits.resources) throw new Error(`names ${entries.length} resources`);
  return { resources: Object.fromEntries(entries) };
}

function isIds(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.length <= limits.devices && value.every((each) => typeof each === 'string')
  );
}
