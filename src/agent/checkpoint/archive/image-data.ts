import type { Budget } from './budget.ts';
import { createBudget } from './budget.ts';
import type { MountFacts, OpenFile } from './contents.ts';
import type { Notes } from './notes.ts';

/** The data collected from the images of an archive, which come in any order. */
export interface ImageData {
  readonly notes: Notes;
  readonly budget: Budget;
  imageVersion: number;
  machine: number;
  /** By pid. */
  readonly tree: Map<number, { readonly ppid: number; readonly threads: number }>;
  /** By pid. */
  readonly tasks: Map<number, { readonly comm: string; readonly state: number }>;
  /** The number of the descriptor table that a process uses, by pid. */
  readonly tables: Map<number, number>;
  /** By pid. */
  readonly memory: Map<number, MemoryAreas>;
  /** Bytes of a process's private pages, by pid. */
  readonly privateBytes: Map<number, number>;
  /** Bytes of an area of shared memory, by its id. */
  readonly sharedBytes: Map<number, number>;
  /** By the number of the table. */
  readonly descriptors: Map<number, DescriptorEntry[]>;
  /** By id. */
  readonly files: Map<number, Omit<OpenFile, 'fd'>>;
  readonly mounts: MountFacts[];
}

interface MemoryAreas {
  readonly virtualBytes: number;
  readonly heapBytes: number;
  readonly areas: number;
  readonly shared: ReadonlySet<number>;
}

interface DescriptorEntry {
  readonly fd: number;
  readonly file: number;
  readonly type: number;
}

export function createImageData(notes: Notes): ImageData {
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
