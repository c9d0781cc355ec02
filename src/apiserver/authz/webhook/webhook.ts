import { groupName } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { RawAnswer } from '../../../client/index.ts';
import { ConnectionError } from '../../../client/index.ts';
import type { Authorizer, Decision } from '../types.ts';
import { noRules } from '../types.ts';
import { decisionIn } from './answer.ts';
import { DecisionCache } from './decision-cache.ts';
import { createFigures } from './figures.ts';
import type { OtherServer } from './other-server.ts';
import { OtherServers, readOtherServer } from './other-server.ts';
import { Places } from './places.ts';
import { questionTo } from './question.ts';

export interface WebhookOptions {
  /** Tells the other server's address, to which reviews are posted as they are, and the credentials for it. */
  kubeconfig: string;
  /** How long an answer counts that allows; default 5 minutes. */
  authorizedTtlMs?: number | undefined;
  /** And one that does not; default 30 s. */
  unauthorizedTtlMs?: number | undefined;
  /** What is decided when there is no answer; default NoOpinion: what nobody else allows is refused. */
  failurePolicy?: 'NoOpinion' | 'Deny' | undefined;
  /** For one question, tried again included; default 5 s. */
  timeoutMs?: number | undefined;
}

interface Surroundings {
  groupSuffix: string;
  clock: Clock;
  log: Logger;
  metrics: MetricsRegistry;
}

/** An authorizer that asks another server. Whoever opens it closes it. */
export interface Webhook extends AsyncDisposable {
  authorizer: Authorizer;
  /** For whoever looks whether the kubeconfig has changed. */
  source: {
    /** What it says now. Throws an ExitError when it cannot be used. */
    read(): Promise<OtherServer>;
    inUse: OtherServer;
    /** Asks that server from now on; what the one of before has said is forgotten. */
    use(next: OtherServer): void;
  };
}

const maxKept = 8192;
const maxWaiting = 1024;
const maxWaitingOfOne = 64;
const maxQueued = 256;
/** More than the questions about one user can hold, so that others get through when those hang. */
const connections = 2 * maxWaitingOfOne;
/** Longer questions are asked each time. */
const maxKeptLength = 10_000;
const tellEveryMs = 10_000;

/** Throws an ExitError when the kubeconfig cannot be used; asks nobody yet. */
export async function openWebhook(
  options: WebhookOptions,
  { groupSuffix, clock, log, metrics }: Surroundings,
): Promise<Webhook> {
  const { timeoutMs = 5000, failurePolicy = 'NoOpinion' } = options;
  const { authorizedTtlMs = 300_000, unauthorizedTtlMs = 30_000 } = options;
  const read = () => readOtherServer(options.kubeconfig);
  const first = await read();
  const servers = new OtherServers(first, { timeoutMs, connections });
  const figures = createFigures(metrics);
  const apiVersion = `${groupName('authorization', groupSuffix)}/v1`;
  const emptyCache = () =>
    new DecisionCache({
      clock,
      maxEntries: maxKept,
      lifetimeMs: ({ verdict }) => (verdict === 'allow' ? authorizedTtlMs : unauthorizedTtlMs),
    });
  let cache = emptyCache();
  const places = new Places({ most: maxWaiting, maxOfOne: maxWaitingOfOne, maxQueued });
  const tell = seldom(clock, (why) => log.warn(`the authorization webhook gives no answer: ${why}`));

  async function ask(user: string, spec: string): Promise<Decision> {
    const signal = AbortSignal.timeout(timeoutMs);
    using _place = await places.take(user, signal);
    const body = `{"apiVersion":"${apiVersion}","kind":"SubjectAccessReview","spec":${spec}}`;
    const startedMs = clock.monotonicMs();
    try {
      const decision = decisionIn(await answered(() => servers.post(body, signal), signal));
      figures.answered(decision.verdict, clock.monotonicMs() - startedMs);
      return decision;
    } catch (error) {
      figures.failed(signal.aborted, clock.monotonicMs() - startedMs);
      throw error;
    }
  }

  function failed(error: unknown): Decision {
    const why = error instanceof DOMException ? `none within ${timeoutMs / 1000} s` : describeError(error);
    tell(why);
    const errors = ['the authorization webhook gives no answer'];
    if (failurePolicy === 'NoOpinion') {
      figures.passedOver();
      return { verdict: 'noOpinion', reason: '', errors };
    }
    return { verdict: 'deny', reason: 'the authorization webhook gives no answer', errors };
  }

  return {
    authorizer: {
      authorize(user, attributes) {
        const spec = JSON.stringify(questionTo(user, attributes));
        const find = () => ask(user.name, spec);
        const answer = spec.length > maxKeptLength ? find() : cache.find(spec, find);
        return answer instanceof Promise ? answer.catch(failed) : answer;
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

/** A connection that was kept may have been closed just then: one more try, within the same time. */
async function answered(send: () => Promise<RawAnswer>, signal: AbortSignal): Promise<RawAnswer> {
  try {
    return await send();
  } catch (error) {
    if (signal.aborted || !(error instanceof ConnectionError) || error.reason !== 'broken') throw error;
    return await send();
  }
}

/** Calls through at most every ten seconds: whoever is refused may ask again at once. */
function seldom(clock: Clock, tell: (why: string) => void): (why: string) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (why) => {
    if (clock.monotonicMs() - lastMs < tellEveryMs) return;
    lastMs = clock.monotonicMs();
    tell(why);
  };
}
