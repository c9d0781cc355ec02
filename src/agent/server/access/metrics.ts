import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, Histogram } from '../../../base/index.ts';

/** The metrics of one kind of review. */
export interface ReviewMetrics {
  /** A review has ended, with an answer or not, after `ms`. */
  asked(ms: number): void;
  result(result: 'yes' | 'no' | 'failed'): void;
  found(how: 'hit' | 'shared' | 'miss' | 'overloaded'): void;
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Creates the metrics of all kinds of reviews, by name: `token`, `access`. */
export function createReviewMetrics(metrics: MetricsRegistry): (review: string) => ReviewMetrics {
  const registers = [metrics];
  const results = new Counter({
    name: 'nodeward_agent_reviews_total',
    help: 'Reviews that the agent has asked the control plane for, by their result: yes, no, failed.',
    labelNames: ['review', 'result'],
    registers,
  });
  const lookups = new Counter({
    name: 'nodeward_agent_review_lookups_total',
    help: 'Questions of who calls the agent and what they may: answered from memory (hit), with another that was under way (shared), by a review (miss), or not for there were too many (overloaded).',
    labelNames: ['review', 'result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'nodeward_agent_review_seconds',
    help: 'How long reviews took, with all tries.',
    labelNames: ['review'],
    buckets,
    registers,
  });
  return (review) => ({
    asked: (ms) => seconds.observe({ review }, ms / 1000),
    result: (result) => results.inc({ review, result }),
    found: (result) => lookups.inc({ review, result }),
  });
}

/** Calls `ask`, and counts its result once, however many callers wait for it. */
export async function countResult<T>(
  metrics: Pick<ReviewMetrics, 'result'>,
  isYes: (answer: T) => boolean,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    const answer = await ask();
    metrics.result(isYes(answer) ? 'yes' : 'no');
    return answer;
  } catch (error) {
    metrics.result('failed');
    throw error;
  }
}
