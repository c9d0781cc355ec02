import { basename } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** An id, or the path or name of an archive as `create` prints it. */
export function parseCheckpointId(text: string): string {
  const id = basename(text).replace(/\.tar(?:\.age)?$/, '');
  if (id !== '' && id !== '.' && id !== '..') return id;
  throw new InvalidArgumentError('It must be the id of a checkpoint, or the name of its archive.');
}

/** For arguments that may be repeated. */
export function parseCheckpointIds(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), parseCheckpointId(text)];
}

/** Whether the id is that of an operation started with `--async`. */
export function isOperationId(id: string): boolean {
  return id.startsWith('operation-');
}

/** The path of a checkpoint or of an operation in the agent's API. */
export function pathOf(id: string, ...subpath: readonly string[]): string {
  const collection = isOperationId(id) ? '/checkpoints/operations' : '/checkpoints';
  return [collection, encodeURIComponent(id), ...subpath].join('/');
}
