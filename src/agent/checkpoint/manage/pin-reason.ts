import { isRecord } from '../../../api/index.ts';
import { RefusedError } from '../../server/index.ts';

const longest = 256;

/** What the body of a pin says: plain text, or `{"reason": "…"}` where it is JSON. Throws a RefusedError (400). */
export function readPinReason(contentType: string | undefined, body: unknown): string | undefined {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  const text = body.toString('utf8');
  const reason = /^application\/json\b/i.test(contentType ?? '') ? reasonIn(text) : text.trim();
  if (reason === undefined || reason === '') return undefined;
  if (reason.length <= longest && !/\p{Cc}/u.test(reason)) return reason;
  throw new RefusedError(400, `the reason of a pin is one line of at most ${longest} characters`);
}

function reasonIn(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RefusedError(400, 'the body is not JSON');
  }
  const reason = isRecord(value) ? value['reason'] : null;
  if (reason === undefined || typeof reason === 'string') return reason;
  throw new RefusedError(400, 'the body must be an object, its reason a text');
}
