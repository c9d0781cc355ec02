import type { ApiObject, Kind } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { createBackoff, describeError, withDeadline } from '../../../base/index.ts';
import type { ApiCalls, OutageLog } from '../../../client/index.ts';
import { ConnectionError, createOutageLog } from '../../../client/index.ts';
import type { ReviewFigures } from './figures.ts';

/** A client of the API as this node, whose connections nothing else uses. */
export type ReviewApi = Pick<ApiCalls, 'create'>;

export interface ReviewerOptions {
  api: ReviewApi;
  /** What is asked, for people: `review a token`. */
  task: string;
  /** For all tries together; default 5 s. */
  timeoutMs?: number | undefined;
  figures: Pick<ReviewFigures, 'asked'>;
  clock: Clock;
  log: Logger;
}

const defaultTimeoutMs = 5000;
const triesLimit = 3;
const backoff = { initialMs: 100, maxMs: 1000, jitter: 0.2 };

/** Asks the control plane for one review after another, each in bounded time. */
export type Reviewer = <T extends ApiObject>(kind: Kind<T>, question: T) => Promise<T>;

/**
 * A review changes nothing, so one that failed by the way is tried again, twice: the connection may have been idle for
 * long and be dead. Rejects with what the last try failed of, or with a DeadlineError.
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
        tryTwiceMore(() => api.create(kind, question, { signal, timeoutMs }), clock, signal),
      );
      outage.succeeded();
      options.figures.asked(clock.monotonicMs() - startedMs);
      return answer;
    } catch (error) {
      outage.failed(error);
      options.figures.asked(clock.monotonicMs() - startedMs);
      throw error;
    }
  };
}

async function tryTwiceMore<T>(call: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  const waits = createBackoff(backoff);
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === triesLimit || signal.aborted || !mayPass(error)) throw error;
    }
    await clock.sleep(waits.next(), signal);
  }
}

/** What another try may mend. */
function mayPass(error: unknown): boolean {
  if (error instanceof StatusError) return error.code === 429 || error.code >= 500;
  return error instanceof ConnectionError && ['refused', 'broken', 'unreachable'].includes(error.reason);
}

/** Why a review failed, for whoever waits for it: without addresses, for it may be a stranger. */
export function whyNoReview(error: unknown): string {
  if (error instanceof StatusError) {
    return error.code === 403 || error.code === 401
      ? 'the control plane does not let this node ask for reviews'
      : `the control plane answered ${error.code}`;
  }
  if (error instanceof ConnectionError && error.reason !== 'timeout')
    return 'the control plane cannot be reached';
  return `the control plane cannot be asked (${error instanceof Error ? error.name : describeError(error)})`;
}
