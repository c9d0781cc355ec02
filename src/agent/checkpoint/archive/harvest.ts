import type { Budget } from './budget.ts';
import { createBudget } from './budget.ts';
import type { MountFacts, OpenFile } from './contents.ts';
import type { Notes } from './notes.ts';

/** What the images of an archive have told, in whatever order they came. */
export interface Harvest {
  readonly notes: Notes;
  readonly budget: Budget;
  imageVersion: number;
  machine: number;
  /** By pid. */
  readonly tree: Map<number, { readonly ppid: number; readonly threads: number }>;
  /** By pid. */
  readonly tasks: Map<number, { readonly comm: string; readonly state: number }>;
  /** Which table of descriptors a process uses, by pid. */
  readonly tables: Map<number, number>;
  /** By pid. */
  readonly memory: Map<number, HarvestedMemory>;
  /** Bytes of a process's own pages, by pid. */
  readonly privateBytes: Map<number, number>;
  /** Bytes of an area of shared memory, by its number. */
  readonly sharedBytes: Map<number, number>;
  /** By the table's number. */
  readonly descriptors: Map<number, HarvestedDescriptor[]>;
  /** By id. */
  readonly files: Map<number, Omit<OpenFile, 'fd'>>;
  readonly mounts: MountFacts[];
}

export interface HarvestedMemory {
  readonly virtualBytes: number;
  readonly heapBytes: number;
  readonly areas: number;
  readonly shared: ReadonlySet<number>;
}

export interface HarvestedDescriptor {
  readonly fd: number;
  readonly file: number;
  readonly type: number;
}

export function createHarvest(notes: Notes): Harvest {
  return {
    notes,
    budget: createBudget(notes),
    imageVersion: 0,
    machine: 0,
    tree: new Map(),
    tasks: new Map(),
    tables: new Map(),
    memory: new Map(),
    privateBytes: new Map(),
    sharedBytes: new Map(),
    descriptors: new Map(),
    files: new Map(),
    mounts: [],
  };
}
