import { isRecord, JsonError, parseJson } from '../../../api/index.ts';
import type { RawAnswer } from '../../../client/index.ts';
import type { Decision } from '../types.ts';

/** A server that answered, but not with a decision. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

const maxReasonLength = 1024;

/** The decision in the answer to a SubjectAccessReview; throws WebhookError. What the other server sends goes no further. */
export function decisionIn({ code, body }: RawAnswer): Decision {
  if (code !== 200 && code !== 201) throw new WebhookError(`it answered ${code}`);
  const review = parsed(body);
  const status = isRecord(review) ? review['status'] : undefined;
  if (!isRecord(review) || review['kind'] !== 'SubjectAccessReview' || !isRecord(status)) {
    throw new WebhookError('it answered no SubjectAccessReview');
  }
  const { allowed = false, denied = false } = status;
  if (typeof allowed !== 'boolean' || typeof denied !== 'boolean' || (allowed && denied)) {
    throw new WebhookError('it answered no decision');
  }
  const evaluationError = text(status['evaluationError']);
  return {
    verdict: verdictOf(allowed, denied),
    reason: text(status['reason']),
    errors: evaluationError === '' ? [] : [evaluationError],
  };
}

function verdictOf(allowed: boolean, denied: boolean): Decision['verdict'] {
  if (allowed) return 'allow';
  return denied ? 'deny' : 'noOpinion';
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxReasonLength) : '';
}

function parsed(body: string): unknown {
  try {
    return parseJson(body).value;
  } catch (error) {
    if (error instanceof JsonError) throw new WebhookError('it answered no JSON');
    throw error;
  }
}
