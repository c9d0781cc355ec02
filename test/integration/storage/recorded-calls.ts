import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runSuccessfully, temporaryFolder } from '../../support/index.ts';
import type { Random } from '../../support/repetition.ts';
import { fetched } from '../lab/index.ts';
import type { Leaves } from './disk-model.ts';
import { Disk } from './disk-model.ts';
import type { DiskCall } from './strace-log.ts';
import { parseStrace, recordedCalls } from './strace-log.ts';

/** The name of the folder that a recorded program works in; beside it stands the file `answers`. */
export const storeFolder = 'storage';

/** What a program did to a folder, from what that held. */
export interface Recorded {
  readonly before: ReadonlyMap<string, Uint8Array>;
  readonly calls: readonly DiskCall[];
}

/**
 * Runs a script of this folder under strace, with the folder to work in and the file for its answers as arguments, and
 * gives what it did to the files with these names. `prepare` fills the folder before.
 */
export async function recordCalls(
  script: string,
  names: readonly string[],
  prepare: (folder: string) => Promise<unknown> = async () => undefined,
): Promise<Recorded> {
  await using home = await temporaryFolder('power-');
  const [folder, answers, log] = [
    join(home.path, storeFolder),
    join(home.path, 'answers'),
    join(home.path, 'strace.log'),
  ];
  await prepare(folder);
  const before = await filesIn(folder, names);
  const paths = [folder, ...names.map((name) => join(folder, name)), answers].flatMap((path) => ['-P', path]);
  const format = ['-f', '-y', '-xx', '-qq', '-s', String(2 ** 24), '-e', `trace=${recordedCalls}`, '-o', log];
  const program = [process.execPath, join(import.meta.dirname, script), folder, answers];
  await runSuccessfully(fetched('strace/bin/strace'), [...format, ...paths, ...program], {
    timeoutMs: 120_000,
  });
  return { before, calls: [...parseStrace((await readFile(log, 'latin1')).trim().split('\n'))] };
}

async function filesIn(folder: string, names: readonly string[]): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (const name of names) {
    const bytes = await readFile(join(folder, name)).catch(() => undefined);
    if (bytes !== undefined) found.set(name, bytes);
  }
  return found;
}

export interface Cuts {
  /** In how many stretches of the record the power is cut once. */
  readonly count: number;
  readonly leaves: Leaves;
  readonly random: Random;
  /** What the program has told up to here. */
  answered(lines: string): void;
  /** Looks at the folder as the cut left it; `when`: for messages. */
  check(folder: string, when: string): Promise<void>;
}

const naming: readonly DiskCall['what'][] = ['unlink', 'rename', 'link'];

/** Cuts after a random call in each of many stretches of the record, and after every one that changes names. */
export async function cutMany({ before, calls }: Recorded, cuts: Cuts): Promise<void> {
  await using home = await temporaryFolder('cut-');
  const { count, leaves, random } = cuts;
  const disk = new Disk(storeFolder);
  for (const [name, bytes] of before) disk.put(name, bytes);
  const chosen = new Set(
    Array.from({ length: count }, (_, index) => Math.floor(((index + random()) * calls.length) / count)),
  );
  for (const [index, call] of calls.entries()) {
    if (call.name !== 'answers') disk.apply(call);
    else if (call.what === 'write') cuts.answered(call.bytes.toString());
    if (!chosen.has(index) && !naming.includes(call.what)) continue;
    const folder = join(home.path, `cut-${index}`);
    await disk.cut(folder, leaves, random);
    await cuts.check(folder, `after call ${index} of ${calls.length} (${call.what} ${call.name})`);
    await rm(folder, { recursive: true });
  }
}
