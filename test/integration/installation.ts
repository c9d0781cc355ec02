import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandResult } from '../support/index.ts';
import { runCommand, runSuccessfully } from '../support/index.ts';
import { repository } from './lab/index.ts';

/** Builds the program unless there is one newer than its sources. */
export async function ensureBuilt(): Promise<void> {
  const main = join(repository, 'dist/main.js');
  if (existsSync(main)) {
    const sources = ['src', 'scripts/build.ts', 'package-lock.json'].map((name) => join(repository, name));
    const newer = await runSuccessfully('find', [...sources, '-newer', main, '-print', '-quit']);
    if (newer === '') return;
  }
  await runSuccessfully(process.execPath, [join(repository, 'scripts/build.ts')], { timeoutMs: 120_000 });
}

/** Runs `scripts/install`, with DESTDIR where it is given. */
export function runInstall(argv: readonly string[], destination?: string): Promise<CommandResult> {
  const env = { PATH: process.env['PATH'], ...(destination === undefined ? {} : { DESTDIR: destination }) };
  return runCommand(join(repository, 'scripts/install'), argv, { env, timeoutMs: 60_000 });
}
