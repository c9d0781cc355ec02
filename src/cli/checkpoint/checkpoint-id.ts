import { basename } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { isCheckpointId } from '../../api/index.ts';

/** What stands for a checkpoint on a command line, in every command alike. */
export const idForms =
  'id of a checkpoint, the beginning of one, "latest", or [NAMESPACE/]POD/CONTAINER for its newest';

/** The reference as it was given; of the path or the name of an archive, as `create` prints it, the id. */
export function parseCheckpointId(text: string): string {
  const id = basename(text).replace(/\.tar(?:\.age)?$/, '');
  if (isCheckpointId(id) || (id !== '' && id !== basename(text))) return id;
  const parts = text.split('/');
  if (parts.length <= 3 && parts.every((part) => !['', '.', '..'].includes(part))) return text;
  throw new InvalidArgumentError(`It must be the ${idForms}, or the name of its archive.`);
}

/** For arguments that may be repeated. */
export function parseCheckpointIds(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), parseCheckpointId(text)];
}

/** `-n` of a command that takes ids; a whole id needs none. */
export const ofNamespaceOption = () =>
  new Option('-n, --namespace <name>', 'namespace of the pod of the checkpoint (default: any)');

/** Whether the id is that of an operation started with `--async`. */
export function isOperationId(id: string): boolean {
  return id.startsWith('operation-');
}

/** The path of a checkpoint or of an operation in the agent's API. */
export function pathOf(id: string, ...subpath: readonly string[]): string {
  const collection = isOperationId(id) ? '/checkpoints/operations' : '/checkpoints';
  return [collection, encodeURIComponent(id), ...subpath].join('/');
}
