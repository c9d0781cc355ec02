import { groupName } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { RawAnswer } from '../../../client/index.ts';
import { ConnectionError } from '../../../client/index.ts';
import type { Authorizer, Decision } from '../types.ts';
import { noRules } from '../types.ts';
import { parseDecision } from './answer.ts';
import { DecisionCache } from './decision-cache.ts';
import { createWebhookMetrics } from './metrics.ts';
import type { OtherServer } from './other-server.ts';
import { OtherServers, readOtherServer } from './other-server.ts';
import { toReviewSpec } from './question.ts';
import { QuestionSlots } from './question-slots.ts';

export interface WebhookOptions {
  /** A file with the other server's address, to which reviews are posted unchanged, and the credentials for it. */
  kubeconfig: string;
  /** How long an answer that allows is valid; default 5 minutes. */
  authorizedTtlMs?: number | undefined;
  /** How long any other answer is valid; default 30 s. */
  unauthorizedTtlMs?: number | undefined;
  /** The decision without an answer; default NoOpinion: the request is refused unless another authorizer allows it. */
  failurePolicy?: 'NoOpinion' | 'Deny' | undefined;
  /** The limit for one question, including the retry; default 5 s. */
  timeoutMs?: number | undefined;
}

interface Surroundings {
  groupSuffix: string;
  clock: Clock;
  log: Logger;
  metrics: MetricsRegistry;
}

/** An authorizer that asks another server. The caller that opens it must close it. */
export interface Webhook extends AsyncDisposable {
  authorizer: Authorizer;
  /** For the reload of the kubeconfig when it has changed. */
  source: {
    /** Reads the file. Throws an ExitError when it cannot be used. */
    read(): Promise<OtherServer>;
    inUse: OtherServer;
    /** Uses that server from now on, and drops the cached answers of the former one. */
    use(next: OtherServer): void;
  };
}

const maxKept = 8192;
const maxWaiting = 1024;
const maxWaitingPerUser = 64;
const maxQueued = 256;
/** More than the slots of one user, so that questions about other users get through when those of one user hang. */
const connections = 2 * maxWaitingPerUser;
/** Longer questions are not cached. */
const maxKeptLength = 10_000;
const minLogIntervalMs = 10_000;

/** Throws an ExitError when the kubeconfig cannot be used; does not connect yet. */
export async function openWebhook(
  options: WebhookOptions,
  { groupSuffix, clock, log, metrics }: Surroundings,
): Promise<Webhook> {
  const { timeoutMs = 5000, failurePolicy = 'NoOpinion' } = options;
  const { authorizedTtlMs = 300_000, unauthorizedTtlMs = 30_000 } = options;
  const read = () => readOtherServer(options.kubeconfig);
  const first = await read();
  const servers = new OtherServers(first, { timeoutMs, connections });
  const webhookMetrics = createWebhookMetrics(metrics);
  const apiVersion = `${groupName('authorization', groupSuffix)}/v1`;
  const emptyCache = () =>
    new DecisionCache({
      clock,
      maxEntries: maxKept,
      lifetimeMs: ({ verdict }) => (verdict === 'allow' ? authorizedTtlMs : unauthorizedTtlMs),
    });
  let cache = emptyCache();
  const slots = new QuestionSlots({ maxTaken: maxWaiting, maxPerUser: maxWaitingPerUser, maxQueued });
  const logFailure = limitRate(clock, (why) => log.warn(`the authorization webhook gives no answer: ${why}`));

  async function ask(user: string, spec: string): Promise<Decision> {
    const signal = AbortSignal.timeout(timeoutMs);
    using _slot = await slots.take(user, signal);
    const body = `{"apiVersion":"${apiVersion}","kind":"SubjectAccessReview","spec":${spec}}`;
    const startedMs = clock.monotonicMs();
    try {
      const decision = parseDecision(await postWithRetry(() => servers.post(body, signal), signal));
      webhookMetrics.answered(decision.verdict, clock.monotonicMs() - startedMs);
      return decision;
    } catch (error) {
      webhookMetrics.failed(signal.aborted, clock.monotonicMs() - startedMs);
      throw error;
    }
  }

  function toFailureDecision(error: unknown): Decision {
    const why = error instanceof DOMException ? `none within ${timeoutMs / 1000} s` : describeError(error);
    logFailure(why);
    const errors = ['the authorization webhook gives no answer'];
    if (failurePolicy === 'NoOpinion') {
      webhookMetrics.passedOver();
      return { verdict: 'noOpinion', reason: '', errors };
    }
    return { verdict: 'deny', reason: 'the authorization webhook gives no answer', errors };
  }

  return {
    authorizer: {
      authorize(user, attributes) {
        const spec = JSON.stringify(toReviewSpec(user, attributes));
        const find = () => ask(user.name, spec);
        const answer = spec.length > maxKeptLength ? find() : cache.find(spec, find);
        return answer instanceof Promise ? answer.catch(toFailureDecision) : answer;
      },
      rules: () => ({
        ...noRules,
        incomplete: true,
        errors: ['webhook authorizer does not support user rule resolution'],
      }),
    },
    source: {
      read,
      inUse: first,
      use(next) {
        servers.use(next);
        cache = emptyCache();
      },
    },
    [Symbol.asyncDispose]: () => servers.close(),
  };
}

/** Retries once within the same time limit: a kept-alive connection may have been closed just then. */
async function postWithRetry(send: () => Promise<RawAnswer>, signal: AbortSignal): Promise<RawAnswer> {
  try {
    return await send();
  } catch (error) {
    if (signal.aborted || !(error instanceof ConnectionError) || error.reason !== 'broken') throw error;
    return await send();
  }
}

/** Limits the calls of `logFailure` to one in ten seconds, because refused clients may retry at once. */
function limitRate(clock: Clock, logFailure: (why: string) => void): (why: string) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (why) => {
    if (clock.monotonicMs() - lastMs < minLogIntervalMs) return;
    lastMs = clock.monotonicMs();
    logFailure(why);
  };
}
