import { isRecord, JsonError, parseJson } from '../../../api/index.ts';
import type { RawAnswer } from '../../../client/index.ts';
import type { Decision } from '../types.ts';

/** The other server answered, but not with a decision, or was not asked for lack of a slot. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

const maxReasonLength = 1024;

/** Parses the answer to a SubjectAccessReview; throws WebhookError. The message never contains what the server sent. */
export function parseDecision({ code, body }: RawAnswer): Decision {
  if (code !== 200 && code !== 201) throw new WebhookError(`it answered ${code}`);
  const review = parseBody(body);
  const status = isRecord(review) ? review['status'] : undefined;
  if (!isRecord(review) || review['kind'] !== 'SubjectAccessReview' || !isRecord(status)) {
    throw new WebhookError('it answered no SubjectAccessReview');
  }
  const { allowed = false, denied = false } = status;
  if (typeof allowed !== 'boolean' || typeof denied !== 'boolean' || (allowed && denied)) {
    throw new WebhookError('it answered no decision');
  }
  const evaluationError = toText(status['evaluationError']);
  return {
    verdict: verdictOf(allowed, denied),
    reason: toText(status['reason']),
    errors: evaluationError === '' ? [] : [evaluationError],
  };
}

function verdictOf(allowed: boolean, denied: boolean): Decision['verdict'] {
  if (allowed) return 'allow';
  return denied ? 'deny' : 'noOpinion';
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxReasonLength) : '';
}

function parseBody(body: string): unknown {
  try {
    return parseJson(body).value;
  } catch (error) {
    if (error instanceof JsonError) throw new WebhookError('it answered no JSON');
    throw error;
  }
}
