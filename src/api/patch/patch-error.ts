import { ReasonError } from '../../base/index.ts';
/**
 * A patch that cannot be applied. `malformed`: it is no patch (400). `failed`: it is one, but not for this object: a
 * test that does not hold, a path that leads nowhere, a list of another type (422). `tooLarge`: it has, or makes, more
 * than a server wants to bear (413). The message tells which part of the patch, by index or path.
 */
export class PatchError extends ReasonError<'malformed' | 'failed' | 'tooLarge'> {
  override readonly name = 'PatchError';
}
