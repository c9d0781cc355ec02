import { RefusedError } from '../../server/index.ts';

/** Whatever was asked for, as far as anybody wants to read it. */
export function noCheckpoint(id: string): RefusedError {
  return new RefusedError(404, `checkpoint ${JSON.stringify(id.slice(0, 260))} does not exist`);
}
