import { link, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, readRegularFile, syncFolder, writeFileAtomic } from '../../base/index.ts';
import { generateKeyPem } from '../../base/x509/index.ts';

const limitBytes = 64 * 1024;

/**
 * The key (PEM) in a file, or a new one where there is none: a hard link appears whole and never replaces another's, so
 * of two that start at once both get the same key. No draft stays behind, also not of a start that was ended.
 */
export async function settleKey(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  const draftPrefix = `.${name}.draft-`;
  const draft = join(folder, `${draftPrefix}${crypto.randomUUID()}`);
  await writeFileAtomic(draft, await generateKeyPem());
  try {
    await link(draft, path);
  } catch (error) {
    // another start was faster, and may have swept the draft away too
    if (!['EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) throw error;
  }
  for (const found of await readdir(folder)) {
    if (found.startsWith(draftPrefix)) await rm(join(folder, found), { force: true });
  }
  await syncFolder(folder);
  return await readKey(path);
}

/** What is in the file of a key. */
export async function readKey(path: string): Promise<string> {
  return (await readRegularFile(path, { limitBytes })).toString('utf8');
}
