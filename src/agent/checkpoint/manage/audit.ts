import type { Logger } from '../../../base/index.ts';
import { describeError, errorCode } from '../../../base/index.ts';
import type { Answer } from '../../server/index.ts';
import { RefusedError } from '../../server/index.ts';

export type ManageAction =
  | 'list'
  | 'get'
  | 'download'
  | 'delete'
  | 'pin'
  | 'unpin'
  | 'verify'
  | 'prune'
  | 'getOperation'
  | 'cancelOperation';

/** One line for each request: who has asked for what, and what came of it, when the answer has been sent. */
export function audited(log: Logger, action: ManageAction, answer: Answer): Answer {
  return async (request) => {
    const { params, requester, raw, reply } = request;
    const id = params['id']?.slice(0, 260);
    const asked = { audit: 'checkpoint', action, ...(id === undefined ? {} : { id }), requester };
    const tell = (code: number) => log.info({ ...asked, method: raw.method, code }, 'checkpoints managed');
    try {
      await answer(request); // a reply is waited for until it has been sent
      tell(reply.statusCode);
      return reply;
    } catch (error) {
      const told = inTheSystemsWords(error);
      tell(told instanceof RefusedError ? told.code : 500);
      throw told;
    }
  };
}

/** A full disk, or a folder that cannot be read or written, is for who asks to put right. */
function inTheSystemsWords(error: unknown): unknown {
  const ofSystem = error instanceof Error && 'syscall' in error && errorCode(error) !== undefined;
  return ofSystem ? new RefusedError(500, describeError(error)) : error;
}
