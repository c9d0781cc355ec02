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

/** Logs one audit line for each request when the answer has been sent: requester, action and status code. */
export function withAudit(log: Logger, action: ManageAction, answer: Answer): Answer {
  return async (request) => {
    const { params, requester, raw, reply } = request;
    const id = params['id']?.slice(0, 260);
    const asked = { audit: 'checkpoint', action, ...(id === undefined ? {} : { id }), requester };
    const report = (code: number) => log.info({ ...asked, method: raw.method, code }, 'checkpoints managed');
    try {
      await answer(request); // resolves when the reply has been sent
      report(reply.statusCode);
      return reply;
    } catch (error) {
      const refused = toRefusedError(error);
      report(refused instanceof RefusedError ? refused.code : 500);
      throw refused;
    }
  };
}

/** Gives the client the text of a system error, such as a full disk or a folder that cannot be read: the operator can fix it. */
function toRefusedError(error: unknown): unknown {
  const ofSystem = error instanceof Error && 'syscall' in error && errorCode(error) !== undefined;
  return ofSystem ? new RefusedError(500, describeError(error)) : error;
}
