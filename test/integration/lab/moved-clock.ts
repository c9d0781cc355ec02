import { copyFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/index.ts';
import { fetched } from './folder.ts';

/**
 * A wall clock that the test moves, of the programs that have its environment: what the C library tells them, and so all that
 * a program reads itself. As when the clock of a machine is set, timers and monotonic clocks go on as ever.
 */
export interface MovedClock extends AsyncDisposable {
  /** For programs in containers, this is mounted at the same path. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** So much later, or earlier, than the machine's; seen at once. */
  move(seconds: number): Promise<void>;
}

const library = 'libfaketimeMT.so.1';

export async function startMovedClock(): Promise<MovedClock> {
  const folder = await temporaryFolder('clock-');
  const offset = join(folder.path, 'offset');
  await copyFile(fetched('faketime/lib', library), join(folder.path, library));
  const move = async (seconds: number) => {
    await writeFile(`${offset}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    await rename(`${offset}.new`, offset); // never half
  };
  await move(0);
  return {
    folder: folder.path,
    env: {
      LD_PRELOAD: join(folder.path, library),
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    move,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
