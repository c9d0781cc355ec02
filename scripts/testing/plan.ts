import { relative, sep } from 'node:path';
import { readLane } from './lanes.ts';

/** Files that run in one process: a single one, or a group. */
export type Batch = readonly string[];

export interface Plan {
  /** To run several at once, the longest first. */
  readonly shared: readonly Batch[];
  /** To run one at a time beside those, the longest first: they mostly wait. */
  readonly waiting: readonly Batch[];
  /** To run one at a time, with nothing beside it. */
  readonly exclusive: readonly Batch[];
  /** Files that cannot be placed, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

export interface PlanOptions {
  /** The repository, or a folder with the same layout. */
  root: string;
  /** Absolute paths of the folders whose files run in groups. */
  groupedFolders: readonly string[];
  /** In seconds, by a file's path in the repository. */
  estimate(file: string): number;
}

const filesInGroup = 8;

/** Decides which files run together and in which order. `files` are absolute paths, sorted. */
export async function makePlan(files: readonly string[], options: PlanOptions): Promise<Plan> {
  const exclusive: Batch[] = [];
  const waiting: Batch[] = [];
  const single: Batch[] = [];
  const grouped = new Map(options.groupedFolders.map((folder): [string, string[]] => [folder, []]));
  const refused = new Map<string, string>();
  for (const file of files) {
    const lane = await readLane(file).catch((error: unknown) => {
      refused.set(file, error instanceof Error ? error.message : String(error));
    });
    if (lane === undefined) continue;
    const folder = options.groupedFolders.find((each) => file.startsWith(each + sep));
    if (lane === 'exclusive') exclusive.push([file]);
    else if (lane === 'waiting') waiting.push([file]);
    else if (folder === undefined) single.push([file]);
    else grouped.get(folder)?.push(file);
  }
  const shared = [...single, ...[...grouped.values()].flatMap(inGroups)];
  return {
    shared: sortByDuration(shared, options),
    waiting: sortByDuration(waiting, options),
    exclusive: sortByDuration(exclusive, options),
    refused,
  };
}

/** Neighbours stay together, as they load the same modules; and the same files do in each run, as long as none is added. */
function inGroups(files: readonly string[]): Batch[] {
  const count = Math.ceil(files.length / filesInGroup);
  return Array.from({ length: count }, (_, index) =>
    files.slice((index * files.length) / count, ((index + 1) * files.length) / count),
  );
}

/** A batch with a new file, whose estimate is infinite, goes first. */
function sortByDuration(batches: readonly Batch[], { root, estimate }: PlanOptions): Batch[] {
  const secondsOf = (batch: Batch): number =>
    batch.reduce((sum, file) => sum + estimate(relative(root, file)), 0);
  return batches
    .map((batch) => ({ batch, seconds: secondsOf(batch) }))
    .sort((a, b) => (a.seconds === b.seconds ? 0 : b.seconds - a.seconds))
    .map(({ batch }) => batch);
}
