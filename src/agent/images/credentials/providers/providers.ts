import { join } from 'node:path';
import type { Clock, Logger } from '../../../../base/index.ts';
import {
  BoundedMap,
  describeError,
  isRecord,
  parseDuration,
  SingleFlight,
  tryParseRecord,
  withDeadline,
} from '../../../../base/index.ts';
import { findCredentials, isKeyFor } from '../match.ts';
import { parseDockercfg } from '../parse.ts';
import type { Credential, CredentialsByKey } from '../types.ts';
import type { ProviderSettings } from './config.ts';
import type { RunProgram } from './run.ts';
import { runProgram } from './run.ts';

export interface CredentialProvidersOptions {
  readonly providers: readonly ProviderSettings[];
  /** Of the programs. */
  readonly folder: string;
  /** What they inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly run?: RunProgram;
}

interface Answer {
  readonly credentials: CredentialsByKey;
  /** What it counts for: the image, its registry, or every image. */
  readonly cacheKey: string;
  readonly cacheMs: number;
}

const timeoutMs = 60_000;
const maxCached = 1000;

/** Asks programs for the credentials of images, and keeps what they answer as long as they say. */
export class CredentialProviders {
  readonly #options: CredentialProvidersOptions;
  readonly #cached = new BoundedMap<
    string,
    { readonly credentials: CredentialsByKey; readonly untilMs: number }
  >({
    maxEntries: maxCached,
  });
  readonly #asking = new SingleFlight<CredentialsByKey>();

  constructor(options: CredentialProvidersOptions) {
    this.#options = options;
  }

  /** In the order of the providers. One that fails is logged, and counts as one without credentials. */
  async find(repository: string, signal: AbortSignal): Promise<readonly Credential[]> {
    const fitting = this.#options.providers.filter(({ patterns }) =>
      patterns.some((pattern) => isKeyFor(pattern, repository)),
    );
    const answers = await Promise.all(fitting.map((provider) => this.#credentialsOf(provider, repository)));
    signal.throwIfAborted();
    return answers.flatMap((credentials) => findCredentials(credentials, repository));
  }

  async #credentialsOf(provider: ProviderSettings, repository: string): Promise<CredentialsByKey> {
    const nowMs = this.#options.clock.monotonicMs();
    const keys = [repository, registryOf(repository), ''].map((key) => `${provider.name} ${key}`);
    for (const key of keys) {
      const known = this.#cached.use(key);
      if (known !== undefined && known.untilMs > nowMs) return known.credentials;
    }
    return await this.#asking.run(`${provider.name} ${repository}`, () => this.#ask(provider, repository));
  }

  async #ask(provider: ProviderSettings, repository: string): Promise<CredentialsByKey> {
    const { clock, log, folder, env, run = runProgram } = this.#options;
    const { name, apiVersion, args } = provider;
    const input = JSON.stringify({ apiVersion, kind: 'CredentialProviderRequest', image: repository });
    // Several pulls may wait for it: it has its own time, whichever of them ends.
    const limits = { clock, timeoutMs, signal: new AbortController().signal };
    try {
      const text = await withDeadline(limits, `the credential provider ${name}`, (signal) =>
        run({ program: join(folder, name), args, env: { ...env, ...provider.env }, input, signal }),
      );
      const { credentials, cacheKey, cacheMs } = parseAnswer(text, provider, repository);
      const untilMs = clock.monotonicMs() + cacheMs;
      if (cacheMs > 0) this.#cached.set(`${name} ${cacheKey}`, { credentials, untilMs });
      return credentials;
    } catch (error) {
      log.warn(`the credential provider ${name} gave nothing for ${repository}: ${describeError(error)}`);
      return new Map();
    }
  }
}

/** Throws an Error that says what is wrong, and holds nothing of the answer. */
function parseAnswer(text: string, provider: ProviderSettings, repository: string): Answer {
  const answer = tryParseRecord(text);
  if (answer?.['kind'] !== 'CredentialProviderResponse' || answer['apiVersion'] !== provider.apiVersion) {
    throw new Error(`it must answer a CredentialProviderResponse of ${provider.apiVersion}`);
  }
  const { auth, cacheKeyType, cacheDuration } = answer;
  const cacheKeys = new Map([
    ['Image', repository],
    ['Registry', registryOf(repository)],
    ['Global', ''],
  ]);
  const cacheKey = typeof cacheKeyType === 'string' ? cacheKeys.get(cacheKeyType) : undefined;
  if (cacheKey === undefined) throw new Error('its cacheKeyType must be Image, Registry or Global');
  const stated = typeof cacheDuration === 'string' ? parseDuration(cacheDuration) : undefined;
  if (cacheDuration !== undefined && cacheDuration !== null && stated === undefined) {
    throw new Error('its cacheDuration is no duration');
  }
  return {
    credentials: isRecord(auth)
      ? (parseDockercfg(JSON.stringify(withoutCoded(auth))) ?? new Map())
      : new Map(),
    cacheKey,
    cacheMs: stated === undefined ? provider.defaultCacheMs : Number(stated / 1_000_000n),
  };
}

/** Only the user name and the password are taken from an answer. */
function withoutCoded(auth: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(auth).map(([key, entry]) => {
      const { username, password } = isRecord(entry) ? entry : {};
      return [key, { username, password }];
    }),
  );
}

const registryOf = (repository: string): string => repository.split('/')[0] ?? '';
