import { RefusedError } from '../../server/index.ts';

/** Quotes the id that was requested, cut to a readable length. */
export function createNotFoundError(id: string): RefusedError {
  return new RefusedError(404, `checkpoint ${JSON.stringify(id.slice(0, 260))} does not exist`);
}
