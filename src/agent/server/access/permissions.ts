import { hash } from 'node:crypto';
import type { SubjectAccessReview } from '../../../api/index.ts';
import { subjectAccessReviewKind } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { AnswerCache } from './answer-cache.ts';
import type { ReviewMetrics } from './metrics.ts';
import { countResult } from './metrics.ts';
import type { Reviewer } from './review.ts';
import { describeReviewFailure } from './review.ts';
import type { Caller, Verdict, Wanted } from './types.ts';

export interface PermissionOptions {
  nodeName: string;
  review: Reviewer;
  /** Returns how long an answer is currently valid. */
  ttlMs(allowed: boolean): number;
  metrics: ReviewMetrics;
  clock: Clock;
}

const maxAnswers = 4096;
const maxPending = 64;

/** Authorizes callers by the control plane's SubjectAccessReview on `nodes/SUBRESOURCE` of this node. */
export function reviewedPermissions(
  options: PermissionOptions,
): (caller: Caller, wanted: Wanted) => Promise<Verdict> {
  const { nodeName, review, metrics, clock } = options;
  const known = new AnswerCache<boolean>({
    maxEntries: maxAnswers,
    isGood: isYes,
    maxPending,
    clock,
    onFind: (how) => metrics.found(how),
  });

  async function isAllowed(caller: Caller, verb: string, subresource: string): Promise<boolean> {
    const spec = createQuestion(caller, {
      verb,
      version: 'v1',
      resource: 'nodes',
      subresource,
      name: nodeName,
    });
    // a digest, as some callers have very many groups
    const key = hash('sha256', JSON.stringify(spec), 'base64');
    const ask = async () => {
      const { status } = await review(subjectAccessReviewKind, { spec });
      return status?.allowed === true && status.denied !== true;
    };
    return await known.find(key, options.ttlMs, () => countResult(metrics, isYes, ask));
  }

  return async (caller, { verb, subresources }) => {
    let failure: unknown;
    for (const subresource of subresources) {
      try {
        if (await isAllowed(caller, verb, subresource)) return { decision: 'allow' };
      } catch (error) {
        failure = error;
        break; // the next review would wait as long for the same failure
      }
    }
    if (failure === undefined) return { decision: 'deny' };
    return { decision: 'unknown', message: describeReviewFailure(failure) };
  };
}

const isYes = (allowed: boolean): boolean => allowed;

type Spec = SubjectAccessReview['spec'];

function createQuestion(caller: Caller, resourceAttributes: NonNullable<Spec['resourceAttributes']>): Spec {
  const { name, uid, groups, extra } = caller;
  return {
    resourceAttributes,
    user: name,
    groups: [...groups],
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra: copyOf(extra) }),
  };
}

function copyOf(extra: Caller['extra']): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}
