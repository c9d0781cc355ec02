import { ReasonError } from '../../base/index.ts';
/**
 * A patch that cannot be applied. `malformed`: it is not a valid patch (400). `failed`: it does not fit this object: a test
 * fails, a path does not exist, a list has another type (422). `tooLarge`: the patch or its result exceeds a limit (413).
 * The message names the part of the patch, by index or path.
 */
export class PatchError extends ReasonError<'malformed' | 'failed' | 'tooLarge'> {
  override readonly name = 'PatchError';
}
