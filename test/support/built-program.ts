import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { runSuccessfully } from './command.ts';

/** What the program is made of; scripts/up looks at the same. */
const sources = ['src', 'scripts/build.ts', 'scripts/build', 'package-lock.json'];
const buildTimeoutMs = 240_000;
const pollMs = 100;

/**
 * Builds a checkout's program unless there is one newer than its sources, which is found out in milliseconds. Processes
 * that call it at once wait for the one among them that builds.
 */
export async function buildUnlessNewer(checkout: string): Promise<void> {
  if (await isBuilt(checkout)) return;
  const cache = join(checkout, '.cache');
  await mkdir(cache, { recursive: true });
  const release = await lock(cache, {
    lockfilePath: join(cache, 'build.lock'),
    retries: { retries: buildTimeoutMs / pollMs, minTimeout: pollMs, maxTimeout: pollMs },
  });
  try {
    if (await isBuilt(checkout)) return;
    await runSuccessfully(process.execPath, [join(checkout, 'scripts/build.ts')], {
      timeoutMs: buildTimeoutMs,
    });
  } finally {
    await release();
  }
}

async function isBuilt(checkout: string): Promise<boolean> {
  const main = join(checkout, 'dist/main.js');
  if (!existsSync(main)) return false;
  const paths = sources.map((path) => join(checkout, path)).filter((path) => existsSync(path));
  return (await runSuccessfully('find', [...paths, '-newer', main, '-print', '-quit'])) === '';
}
