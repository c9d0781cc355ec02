import { describeError, errorCode } from '../index.ts';
import type { FolderReader } from './reader.ts';

/* What may be wrong with a folder, for the operator who has to correct it. */

export function describeMissing(folder: string): string {
  return `${folder} is missing; it is looked at as soon as it is made`;
}

export function describeNotFolder(folder: string): string {
  return `${folder} is not a folder; put a folder in its place`;
}

export function describeTooMany(folder: string, maxEntries: number): string {
  return `${folder} holds more than ${maxEntries} entries, of which ${maxEntries} are looked at; remove what does not belong there`;
}

/** Names owner and mode: without capabilities, root cannot read other users' files. */
export async function describeUnreadable(
  reader: FolderReader,
  path: string,
  error: unknown,
): Promise<string> {
  const code = errorCode(error);
  const facts = await reader.stat(path).catch(() => undefined);
  if ((code !== 'EACCES' && code !== 'EPERM') || facts === undefined)
    return `${path} cannot be read: ${describeError(error)}`;
  const mode = (facts.mode & 0o7777n).toString(8).padStart(4, '0');
  return `${path} cannot be read: it belongs to user ${facts.uid} with mode ${mode}, and this process runs as user ${process.geteuid?.() ?? -1}; change its owner or mode`;
}
