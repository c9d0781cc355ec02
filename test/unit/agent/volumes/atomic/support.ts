import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileContent, Payload } from '../../../../../src/agent/volumes/atomic/payload.ts';
import { Folder } from '../../../../../src/agent/volumes/folder.ts';
import { temporaryFolder } from '../../../../support/index.ts';

export const nowMs = Date.UTC(2026, 0, 2, 15, 4, 5);

export async function volumeFolder() {
  const made = await temporaryFolder('atomic-');
  const folder = await Folder.at(made.path);
  return {
    folder,
    path: made.path,
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

/** Files with these texts, of the mode 0644. */
export function payloadOf(
  texts: Readonly<Record<string, string>>,
  access: Partial<FileContent> = {},
): Payload {
  return new Map(
    Object.entries(texts).map(([path, text]) => [path, { bytes: Buffer.from(text), mode: 0o644, ...access }]),
  );
}

/** What a container sees: by path, the text of each file. */
export async function seenIn(path: string, below = ''): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  for (const name of (await readdir(join(path, below))).sort()) {
    if (below === '' && name.startsWith('..')) continue;
    const inside = below === '' ? name : `${below}/${name}`;
    try {
      seen[inside] = await readFile(join(path, inside), 'utf8');
    } catch {
      Object.assign(seen, await seenIn(path, inside));
    }
  }
  return seen;
}

/** The entries of the volume, each with its target or mode; times and numbers in names as `N`. */
export async function layoutOf(path: string): Promise<string[]> {
  const hide = (text: string) => text.replaceAll(/\d+/g, 'N');
  const lines = await Promise.all(
    (await readdir(path)).map(async (name) => {
      const facts = await lstat(join(path, name));
      if (facts.isSymbolicLink()) return `${name} → ${hide(await readlink(join(path, name)))}`;
      return `${hide(name)} ${(facts.mode & 0o7777).toString(8)} ${facts.gid}`;
    }),
  );
  return lines.sort();
}
