import { groupName } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { RawAnswer } from '../../../client/index.ts';
import { ApiClient, ConnectionError, clientOptionsOf, readKubeconfig } from '../../../client/index.ts';
import type { Authorizer, Decision } from '../types.ts';
import { noRules } from '../types.ts';
import { decisionIn } from './answer.ts';
import { DecisionCache } from './decision-cache.ts';
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
}

/** An authorizer that asks another server. Whoever opens it closes it. */
export interface Webhook extends AsyncDisposable {
  authorizer: Authorizer;
}

const mostKept = 8192;
const mostWaiting = 1024;
const mostWaitingOfOne = 64;
/** More than the questions about one user can hold, so that others get through when those hang. */
const connections = 2 * mostWaitingOfOne;
const answerLimitBytes = 64 * 1024;
/** Longer questions are asked each time. */
const longestKept = 10_000;
const tellEveryMs = 10_000;

/** Throws an ExitError when the kubeconfig cannot be used; asks nobody yet. */
export async function openWebhook(
  options: WebhookOptions,
  { groupSuffix, clock, log }: Surroundings,
): Promise<Webhook> {
  const { timeoutMs = 5000, failurePolicy = 'NoOpinion' } = options;
  const { authorizedTtlMs = 300_000, unauthorizedTtlMs = 30_000 } = options;
  const given = clientOptionsOf(await readKubeconfig(options.kubeconfig));
  const { origin, path } = placeOf(given.server);
  const client = new ApiClient({ ...given, server: origin, timeoutMs, connections, answerLimitBytes });
  const apiVersion = `${groupName('authorization', groupSuffix)}/v1`;
  const cache = new DecisionCache({
    clock,
    most: mostKept,
    lifetimeMs: ({ verdict }) => (verdict === 'allow' ? authorizedTtlMs : unauthorizedTtlMs),
  });
  const places = new Places({ most: mostWaiting, mostOfOne: mostWaitingOfOne });
  const tell = seldom(clock, (why) => log.warn(`the authorization webhook gives no answer: ${why}`));

  async function ask(user: string, spec: string): Promise<Decision> {
    using _place = places.take(user);
    const body = `{"apiVersion":"${apiVersion}","kind":"SubjectAccessReview","spec":${spec}}`;
    const signal = AbortSignal.timeout(timeoutMs);
    const send = () => client.request({ method: 'POST', path, body, signal });
    return decisionIn(await answered(send, signal));
  }

  function failed(error: unknown): Decision {
    const why = error instanceof DOMException ? `none within ${timeoutMs / 1000} s` : describeError(error);
    tell(why);
    const errors = ['the authorization webhook gives no answer'];
    if (failurePolicy === 'NoOpinion') return { verdict: 'noOpinion', reason: '', errors };
    return { verdict: 'deny', reason: 'the authorization webhook gives no answer', errors };
  }

  return {
    authorizer: {
      authorize(user, attributes) {
        const spec = JSON.stringify(questionTo(user, attributes));
        const find = () => ask(user.name, spec);
        const answer = spec.length > longestKept ? find() : cache.find(spec, find);
        return answer instanceof Promise ? answer.catch(failed) : answer;
      },
      rules: () => ({
        ...noRules,
        incomplete: true,
        errors: ['webhook authorizer does not support user rule resolution'],
      }),
    },
    [Symbol.asyncDispose]: () => client.close(),
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

/** Reviews go to the address itself, with or without a slash at its end as it is written. */
function placeOf(server: string): { origin: string; path: string } {
  const { origin, pathname } = new URL(server);
  return { origin, path: pathname };
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
