import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FolderEntry } from '../../../base/folder-watch/index.ts';
import { readRegularFile } from '../../../base/index.ts';
import type { Fault } from './manifest.ts';

const extensions = ['.yaml', '.yml', '.json'];

/** Files whose names begin with a dot are ignored, as in the reference: editors create them. */
export function isVisible(path: string): boolean {
  return !path.startsWith('.');
}

/** Returns why an entry of the folder is ignored; undefined where it is meant to be a manifest. */
export function whyIgnored({ path, kind }: FolderEntry): string | undefined {
  if (kind === 'folder') return 'it is a folder; manifests lie beside each other';
  return extensions.includes(extname(path)) ? undefined : `its name does not end in ${extensions.join(', ')}`;
}

/** Returns why an entry cannot be read as a manifest, whatever its content; undefined where it can. */
export function findFileFault({ kind, link }: FolderEntry): Fault | undefined {
  if (link === true)
    return { field: '', message: 'it is a symbolic link, which is not followed; put the file itself here' };
  return kind === 'file' ? undefined : { field: '', message: 'it is not a regular file' };
}

/** Reads a file; undefined where it was written during the read. */
export async function readUnchanged(path: string, limitBytes: number): Promise<Uint8Array | undefined> {
  const before = await readIdentity(path);
  const bytes = await readRegularFile(path, { limitBytes, noFollow: true });
  return before === (await readIdentity(path)) ? bytes : undefined;
}

async function readIdentity(path: string): Promise<string> {
  const { dev, ino, ctimeNs, size } = await stat(path, { bigint: true });
  return `${dev}:${ino}:${ctimeNs}:${size}`;
}
