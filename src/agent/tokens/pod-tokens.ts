import type { Pod } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { BoundedMap, describeError } from '../../base/index.ts';
import type { TokenCalls } from './ask-token.ts';
import { askToken } from './ask-token.ts';
import { HeldToken } from './held-token.ts';
import type { PodToken, PodTokens, TokenQuestion } from './types.ts';

export interface PodTokensOptions {
  readonly api: TokenCalls;
  /** Takes what a person should know of the tokens of a pod: in words, without anything secret. */
  onNotice(podUid: string, message: string): void;
  readonly clock: Clock;
  readonly log: Logger;
  /** A number in [0, 1); default Math.random. */
  random?(): number;
}

/** Far more than the volumes of one pod ask for, and than a node runs; the pods that were not asked for longest are forgotten. */
const maxQuestionsPerPod = 256;
const maxPods = 4096;

/** What is held for one pod, until that is released. */
interface PodEntry {
  /** By question. */
  readonly tokens: Map<string, HeldToken>;
  readonly released: AbortController;
}

/**
 * Tokens as the API gives them, kept in memory alone: after a restart they are asked for again. All who ask the same for one
 * pod share one token and one request, which goes on for the others when one of them no longer waits.
 */
export class ApiPodTokens implements PodTokens {
  readonly #options: PodTokensOptions;
  /** By uid. */
  readonly #pods = new BoundedMap<string, PodEntry>({ maxEntries: maxPods });

  constructor(options: PodTokensOptions) {
    this.#options = options;
  }

  async get(pod: Pod, question: TokenQuestion, signal: AbortSignal): Promise<PodToken> {
    signal.throwIfAborted();
    const uid = pod.metadata?.uid ?? '';
    if (uid === '') throw new Error('failed to fetch token: the pod has no uid yet');
    return await unlessAborted(this.#held(uid, pod, question).get(), signal);
  }

  release(podUid: string): void {
    this.#pods.get(podUid)?.released.abort(new Error('the pod has ended'));
    this.#pods.delete(podUid);
  }

  #held(uid: string, pod: Pod, question: TokenQuestion): HeldToken {
    const entry: PodEntry = this.#pods.use(uid) ?? { tokens: new Map(), released: new AbortController() };
    this.#pods.set(uid, entry);
    const key = `${question.expirationSeconds} ${question.audience}`;
    const known = entry.tokens.get(key);
    if (known !== undefined) return known;
    if (entry.tokens.size >= maxQuestionsPerPod) {
      throw new Error(
        `failed to fetch token: the pod asks for more than ${maxQuestionsPerPod} different ones`,
      );
    }
    const held = this.#hold(uid, pod, question, entry.released.signal);
    entry.tokens.set(key, held);
    return held;
  }

  #hold(uid: string, pod: Pod, question: TokenQuestion, signal: AbortSignal): HeldToken {
    const { api, clock, log, random = Math.random, onNotice } = this.#options;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const what =
      question.audience === '' ? 'its token' : `its token for ${JSON.stringify(question.audience)}`;
    return new HeldToken({
      ask: () => askToken({ api, clock }, pod, question, signal),
      onKept(error, expiresMs) {
        const until = new Date(expiresMs).toISOString();
        const message = `${what} could not be renewed and goes on until ${until}: ${describeError(error)}`;
        log.warn({ pod: `${namespace}/${name}`, uid }, message);
        onNotice(uid, message);
      },
      onRenewedAgain: () => log.info({ pod: `${namespace}/${name}`, uid }, `${what} is renewed again`),
      ...{ clock, random },
    });
  }
}

/** Others may go on to wait for `value`. */
function unlessAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
