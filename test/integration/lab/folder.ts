import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The repository's root folder. */
export const repository = resolve(import.meta.dirname, '../../..');

/**
 * A file or folder that `scripts/lab/fetch` brought. Throws, with the command to run, when it is missing.
 */
export function fetched(...path: readonly string[]): string {
  const lab = process.env['NODEWARD_LAB'] ?? join(repository, '.cache/lab');
  const found = join(lab, ...path);
  if (!existsSync(found)) throw new Error(`${found} is missing; run scripts/lab/fetch`);
  return found;
}
