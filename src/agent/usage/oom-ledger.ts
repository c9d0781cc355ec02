import type { Clock, Logger } from '../../base/index.ts';
import type { StateFile, StateRecord } from '../../base/state-file/index.ts';
import { openStateFile } from '../../base/state-file/index.ts';

/** What has been reported of the kills in one container. */
export interface OomEntry {
  /** How many processes of it the kernel has killed, as far as is known: all of them are reported. */
  readonly kills: number;
  /** How many of them the kernel's log has named, and the number of the last of these records; -1: none. */
  readonly logged: number;
  readonly sequence: number;
  /** How it ended, where that has to do with a kill. */
  readonly end?: OomEnd;
}

export interface OomEnd {
  /** It ended because its first process was killed. */
  readonly isKilled: boolean;
  /** Which process, and how much memory there was; for people. */
  readonly message: string;
}

export interface OomLedgerOptions {
  /** Of the state file, absolute. */
  readonly path: string;
  /** Of the running machine: with the next one the numbers of records begin again. */
  readonly bootId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Kept {
  readonly bootId: string;
  /** By container id. */
  readonly containers: Readonly<Record<string, OomEntry>>;
}

/** More than a node has; the oldest are forgotten. */
const maxContainers = 4096;
const maxMessageLength = 2000;

/** What has been reported of kills, in a file that outlives the agent: each is reported once. Only containers with a kill are in it. */
export class OomLedger implements AsyncDisposable {
  /** No agent has kept one here: how much was reported before is not known. */
  readonly isNew: boolean;
  readonly #file: StateFile<Kept>;
  readonly #bootId: string;
  readonly #entries: Map<string, OomEntry>;

  private constructor(file: StateFile<Kept>, bootId: string, kept: Kept | undefined) {
    this.#file = file;
    this.#bootId = bootId;
    this.isNew = kept === undefined;
    this.#entries = new Map(Object.entries(kept?.containers ?? {}));
    if (kept?.bootId === bootId) return;
    for (const [id, entry] of this.#entries) this.#entries.set(id, { ...entry, sequence: -1 });
    this.#save();
  }

  /** Reads what an earlier agent has reported; never rejects. */
  static async open({ bootId, ...options }: OomLedgerOptions): Promise<OomLedger> {
    const file = openStateFile<Kept>({ ...options, what: 'the kills for want of memory', parse });
    const read = await file.read();
    return new OomLedger(file, bootId, read.state === 'value' ? read.value : undefined);
  }

  get(containerId: string): OomEntry | undefined {
    return this.#entries.get(containerId);
  }

  set(containerId: string, entry: OomEntry): void {
    this.#entries.set(containerId, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxContainers && oldest !== undefined) this.#entries.delete(oldest);
    this.#save();
  }

  /** Forgets containers that are gone. */
  keepOnly(containerIds: ReadonlySet<string>): void {
    const gone = [...this.#entries.keys()].filter((id) => !containerIds.has(id));
    if (gone.length === 0) return;
    for (const id of gone) this.#entries.delete(id);
    this.#save();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }

  #save(): void {
    const kept = { bootId: this.#bootId, containers: Object.fromEntries(this.#entries) };
    void this.#file.write(kept).catch(() => undefined); // logged and tried again by the file
  }
}

function parse({ bootId, containers }: StateRecord): Kept {
  if (typeof bootId !== 'string' || !isRecord(containers)) throw new Error('has no bootId or no containers');
  const entries = Object.entries(containers).slice(-maxContainers);
  return {
    bootId,
    containers: Object.fromEntries(entries.map(([id, entry]) => [id, parseEntry(id, entry)])),
  };
}

function parseEntry(id: string, value: unknown): OomEntry {
  const { kills, logged, sequence, end }: StateRecord = isRecord(value) ? value : {};
  if (!isCount(kills) || !isCount(logged) || !(isCount(sequence) || sequence === -1))
    throw new Error(`has no counts of container ${id}`);
  return { kills, logged, sequence, ...(end === undefined ? {} : { end: parseEnd(id, end) }) };
}

function parseEnd(id: string, value: unknown): OomEnd {
  const { isKilled, message }: StateRecord = isRecord(value) ? value : {};
  if (typeof isKilled !== 'boolean' || typeof message !== 'string' || message.length > maxMessageLength)
    throw new Error(`does not say how container ${id} ended`);
  return { isKilled, message };
}

function isRecord(value: unknown): value is StateRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
