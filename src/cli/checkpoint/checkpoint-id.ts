import { basename } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** An id; the path or the name of the archive, as `create` prints it, is as good. */
export function checkpointId(text: string): string {
  const id = basename(text).replace(/\.tar(?:\.age)?$/, '');
  if (id !== '' && id !== '.' && id !== '..') return id;
  throw new InvalidArgumentError('It must be the id of a checkpoint, or the name of its archive.');
}

/** The same, for arguments that may be given repeatedly. */
export function checkpointIds(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), checkpointId(text)];
}

/** Of a checkpoint, or of an operation where it looks like one. */
export function pathOf(id: string, ...more: readonly string[]): string {
  const folder = id.startsWith('operation-') ? '/checkpoints/operations' : '/checkpoints';
  return [folder, encodeURIComponent(id), ...more].join('/');
}
