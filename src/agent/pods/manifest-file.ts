import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FolderEntry } from '../../base/folder-watch/index.ts';
import { readRegularFile } from '../../base/index.ts';
import type { Fault } from './manifest.ts';

const extensions = ['.yaml', '.yml', '.json'];

/** Files whose names begin with a dot are nobody's business, as in the reference: editors put theirs there. */
export function isShown(path: string): boolean {
  return !path.startsWith('.');
}

/** Why something in the folder is passed over; undefined where it is meant to be a manifest. */
export function whyIgnored({ path, kind }: FolderEntry): string | undefined {
  if (kind === 'folder') return 'it is a folder; manifests lie beside each other';
  return extensions.includes(extname(path)) ? undefined : `its name does not end in ${extensions.join(', ')}`;
}

/** Why something cannot be read as a manifest, whatever is in it. */
export function faultOfFile({ kind, link }: FolderEntry): Fault | undefined {
  if (link === true)
    return { field: '', message: 'it is a symbolic link, which is not followed; put the file itself here' };
  return kind === 'file' ? undefined : { field: '', message: 'it is not a regular file' };
}

/** The bytes of a file that nobody has written meanwhile; undefined where somebody has, or it has gone. */
export async function readUndisturbed(path: string, limitBytes: number): Promise<Uint8Array | undefined> {
  const before = await marksOf(path);
  const bytes = await readRegularFile(path, { limitBytes, noFollow: true });
  return before === (await marksOf(path)) ? bytes : undefined;
}

async function marksOf(path: string): Promise<string> {
  const { dev, ino, ctimeNs, size } = await stat(path, { bigint: true });
  return `${dev}:${ino}:${ctimeNs}:${size}`;
}
