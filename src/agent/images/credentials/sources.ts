import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import {
  createBackoff,
  describeError,
  errorCode,
  mapConcurrently,
  readRegularFile,
  withDeadline,
} from '../../../base/index.ts';
import { findCredentials } from './match.ts';
import { mergeCredentials, parseDockerConfig, parseDockercfg } from './parse.ts';
import type { CredentialProviders } from './providers/providers.ts';
import type { Credential, CredentialsByKey } from './types.ts';

/** Returns the `data` of a Secret, its values in base64; undefined: there is none. May reject. */
export type ReadSecret = (
  namespace: string,
  name: string,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>> | undefined>;

export interface CredentialSourcesOptions {
  readonly readSecret: ReadSecret;
  /** The node's own `config.json`, which may be missing; undefined: there is none. */
  readonly nodeFile: string | undefined;
  /** Programs that are asked for credentials. */
  readonly providers: CredentialProviders | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface FoundCredentials {
  readonly credentials: readonly Credential[];
  /** Secrets that the pod names and that cannot be read, or hold nothing of use. */
  readonly missingSecrets: readonly string[];
}

/** Between two looks for secrets that a pod lacks; a pod may wait for hours. */
const missingWaits = { initialMs: 1000, maxMs: 15_000, jitter: 0.2 };
const secretTimeoutMs = 10_000;
const maxSecretsAtOnce = 4;
const maxFileBytes = 1024 * 1024;
/** For one image; each one that fails is a question to the registry. */
const maxCredentials = 20;

/** Finds what a pod may show a registry: first of its own secrets, then of the node's file, then of its providers. */
export class CredentialSources {
  readonly #options: CredentialSourcesOptions;
  #fileProblem = '';

  constructor(options: CredentialSourcesOptions) {
    this.#options = options;
  }

  /** Never rejects, except when `signal` aborts: without credentials a pull may go well too. */
  async find(pod: Pod, repository: string, signal: AbortSignal): Promise<FoundCredentials> {
    const names = new Set((pod.spec?.imagePullSecrets ?? []).flatMap(({ name }) => name || []));
    const secrets = await mapConcurrently([...names], maxSecretsAtOnce, async (name) => ({
      name,
      found: await this.#readSecret(pod.metadata?.namespace ?? '', name, signal),
    }));
    const known = secrets.flatMap(({ found }) => found ?? []);
    const all = [
      ...findCredentials(mergeCredentials(known), repository),
      ...[
        ...findCredentials(await this.#readNodeFile(), repository),
        ...((await this.#options.providers?.find(repository, signal)) ?? []),
      ].map((credential) => ({ ...credential, isOfNode: true }) as const),
    ];
    const missingSecrets = secrets.flatMap(({ name, found }) => (found === undefined ? [name] : []));
    return { credentials: withoutRepeated(all).slice(0, maxCredentials), missingSecrets };
  }

  /**
   * Resolves when one of the secrets that were missing holds credentials, or when `signal` aborts. Never rejects. A node may read
   * the secrets that its pods name, one by one.
   */
  async untilOneIsThere(pod: Pod, names: readonly string[], signal: AbortSignal): Promise<void> {
    const backoff = createBackoff(missingWaits);
    const namespace = pod.metadata?.namespace ?? '';
    while (!signal.aborted) {
      await this.#options.clock.sleep(backoff.next(), signal);
      for (const name of names) if (await this.#isThere(namespace, name, signal)) return;
    }
  }

  async #isThere(namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
    const { clock, readSecret } = this.#options;
    try {
      const limits = { clock, timeoutMs: secretTimeoutMs, signal };
      const data = await withDeadline(limits, name, (cancel) => readSecret(namespace, name, cancel));
      return data !== undefined && parseSecret(data) !== undefined;
    } catch {
      return false; // the next pull says why
    }
  }

  async #readSecret(
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<CredentialsByKey | undefined> {
    const { clock, log, readSecret } = this.#options;
    const where = `secret ${namespace}/${name}`;
    try {
      const limits = { clock, timeoutMs: secretTimeoutMs, signal };
      const data = await withDeadline(limits, where, (cancel) => readSecret(namespace, name, cancel));
      const found = data === undefined ? undefined : parseSecret(data);
      if (data !== undefined && found === undefined) {
        log.warn(`${where} holds no credentials for images: it needs .dockerconfigjson or .dockercfg`);
      }
      return found;
    } catch (error) {
      signal.throwIfAborted();
      log.warn(`${where} cannot be read, images are pulled without it: ${describeError(error)}`);
      return undefined;
    }
  }

  async #readNodeFile(): Promise<CredentialsByKey> {
    const { nodeFile, log } = this.#options;
    if (nodeFile === undefined) return new Map();
    let problem = '';
    try {
      const text = (await readRegularFile(nodeFile, { limitBytes: maxFileBytes })).toString('utf8');
      const found = parseDockerConfig(text);
      if (found !== undefined) return found;
      problem = 'it is no JSON object with "auths"';
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') problem = describeError(error);
    } finally {
      if (problem !== '' && problem !== this.#fileProblem) {
        log.warn(`${nodeFile} cannot be used, images are pulled without it: ${problem}`);
      }
      this.#fileProblem = problem;
    }
    return new Map();
  }
}

function parseSecret(data: Readonly<Record<string, string>>): CredentialsByKey | undefined {
  const textOf = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  return parseDockerConfig(textOf('.dockerconfigjson')) ?? parseDockercfg(textOf('.dockercfg'));
}

/** What a pod and the node have both is of the node. */
function withoutRepeated(credentials: readonly Credential[]): Credential[] {
  const byText = new Map(credentials.map((each) => [JSON.stringify([each.username, each.password]), each]));
  return [...byText.values()];
}
