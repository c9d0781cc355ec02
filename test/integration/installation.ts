import { join } from 'node:path';
import type { CommandResult } from '../support/index.ts';
import { buildUnlessNewer, runCommand } from '../support/index.ts';
import { repository } from './lab/index.ts';

/** Builds the program unless there is one newer than its sources. */
export function ensureBuilt(): Promise<void> {
  return buildUnlessNewer(repository);
}

/** Runs `scripts/install`, with DESTDIR where it is given. */
export function runInstall(argv: readonly string[], destination?: string): Promise<CommandResult> {
  const env = { PATH: process.env['PATH'], ...(destination === undefined ? {} : { DESTDIR: destination }) };
  return runCommand(join(repository, 'scripts/install'), argv, { env, timeoutMs: 60_000 });
}
