import type { ApiObject, Kind } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { createBackoff, describeError, withDeadline } from '../../../base/index.ts';
import type { ApiCalls, OutageLog } from '../../../client/index.ts';
import { ConnectionError, createOutageLog } from '../../../client/index.ts';
import type { ReviewMetrics } from './metrics.ts';

/** A client of the API as this node, whose connections nothing else uses. */
export type ReviewApi = Pick<ApiCalls, 'create'>;

export interface ReviewerOptions {
  api: ReviewApi;
  /** The task, for people: `review a token`. */
  task: string;
  /** For all tries together; default 5 s. */
  timeoutMs?: number | undefined;
  metrics: Pick<ReviewMetrics, 'asked'>;
  clock: Clock;
  log: Logger;
}

const defaultTimeoutMs = 5000;
const maxTries = 3;
const backoff = { initialMs: 100, maxMs: 1000, jitter: 0.2 };

/** Requests a review from the control plane, in bounded time. */
export type Reviewer = <T extends ApiObject>(kind: Kind<T>, question: T) => Promise<T>;

/**
 * A review changes nothing, so one that failed in transit is tried twice more: the connection may have died while it was
 * idle. Rejects with the failure of the last attempt, or with a DeadlineError.
 */
export function createReviewer(options: ReviewerOptions): Reviewer {
  const { api, task, clock, log, timeoutMs = defaultTimeoutMs } = options;
  const outage: OutageLog = createOutageLog(task, clock, log);
  const never = new AbortController().signal;

  return async (kind, question) => {
    const startedMs = clock.monotonicMs();
    const limits = { clock, timeoutMs, signal: never };
    try {
      const answer = await withDeadline(limits, 'the control plane', (signal) =>
        callWithRetries(() => api.create(kind, question, { signal, timeoutMs }), clock, signal),
      );
      outage.succeeded();
      options.metrics.asked(clock.monotonicMs() - startedMs);
      return answer;
    } catch (error) {
      outage.failed(error);
      options.metrics.asked(clock.monotonicMs() - startedMs);
      throw error;
    }
  };
}

async function callWithRetries<T>(call: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  const waits = createBackoff(backoff);
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === maxTries || signal.aborted || !isTransient(error)) throw error;
    }
    await clock.sleep(waits.next(), signal);
  }
}

/** Whether another attempt may succeed. */
function isTransient(error: unknown): boolean {
  if (error instanceof StatusError) return error.code === 429 || error.code >= 500;
  return error instanceof ConnectionError && ['refused', 'broken', 'unreachable'].includes(error.reason);
}

/** Why a review failed, for the caller of the agent: without addresses, as the caller may be unauthenticated. */
export function describeReviewFailure(error: unknown): string {
  if (error instanceof StatusError) {
    return error.code === 403 || error.code === 401
      ? 'the control plane does not let this node ask for reviews'
      : `the control plane answered ${error.code}`;
  }
  if (error instanceof ConnectionError && error.reason !== 'timeout')
    return 'the control plane cannot be reached';
  return `the control plane cannot be asked (${error instanceof Error ? error.name : describeError(error)})`;
}
