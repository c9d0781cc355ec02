import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runSuccessfully } from './command.ts';

/** Builds a checkout's program unless there is one newer than its sources. */
export async function buildUnlessNewer(checkout: string): Promise<void> {
  const script = join(checkout, 'scripts/build.ts');
  const main = join(checkout, 'dist/main.js');
  if (existsSync(main)) {
    const sources = [join(checkout, 'src'), script, join(checkout, 'package-lock.json')];
    if ((await runSuccessfully('find', [...sources, '-newer', main, '-print', '-quit'])) === '') return;
  }
  await runSuccessfully(process.execPath, [script], { timeoutMs: 240_000 });
}
