import { createHash } from 'node:crypto';
import type { Pod, Secret } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, errorCode, readRegularFile } from '../../../base/index.ts';
import type { PodObjects } from '../../objects/index.ts';
import { untilKnown } from '../../objects/index.ts';
import { findCredentials } from './match.ts';
import { mergeCredentials, parseDockerConfig, parseDockercfg } from './parse.ts';
import type { CredentialProviders } from './providers/providers.ts';
import type { Credential, CredentialsByKey } from './types.ts';

/** What is known of the Secrets that pods of this node name. */
export type PullSecrets = Pick<PodObjects, 'secret' | 'onChange'>;

export interface CredentialSourcesOptions {
  readonly secrets: PullSecrets;
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
  /** By the names of the pod's secrets: a mark of what each held; empty for a missing one. */
  readonly observed: ReadonlyMap<string, string>;
}

/** How long a first answer of the API about a secret is waited for. */
const secretTimeoutMs = 10_000;
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
    const names = namesOf(pod);
    await this.#untilKnown(pod, names, signal);
    signal.throwIfAborted();
    const secrets = names.map((name) => ({ name, ...this.#read(pod, name) }));
    const known = secrets.flatMap(({ found }) => found ?? []);
    const all = [
      ...findCredentials(mergeCredentials(known), repository),
      ...[
        ...findCredentials(await this.#readNodeFile(), repository),
        ...((await this.#options.providers?.find(repository, signal)) ?? []),
      ].map((credential) => ({ ...credential, isOfNode: true }) as const),
    ];
    const missingSecrets = secrets.flatMap(({ name, found, problem }) => {
      if (problem !== undefined) this.#options.log.warn(problem);
      return found === undefined ? [name] : [];
    });
    return {
      credentials: withoutRepeated(all).slice(0, maxCredentials),
      missingSecrets,
      observed: new Map(secrets.map(({ name, mark }) => [name, mark])),
    };
  }

  /**
   * Resolves when one of the secrets of the pod holds credentials other than those that were `observed`, or when `signal` aborts. Never
   * rejects.
   */
  async untilChanged(pod: Pod, observed: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
    const names = namesOf(pod);
    const isNew = (name: string) => !['', observed.get(name)].includes(this.#read(pod, name).mark);
    const changed = Promise.withResolvers<void>();
    const look = () => {
      if (signal.aborted || names.some(isNew)) changed.resolve();
    };
    using _follow = this.#options.secrets.onChange(({ name }) => {
      if (names.includes(name)) look();
    });
    signal.addEventListener('abort', look, { once: true });
    look();
    await changed.promise;
    signal.removeEventListener('abort', look);
  }

  async #untilKnown(pod: Pod, names: readonly string[], signal: AbortSignal): Promise<void> {
    const { secrets, clock } = this.#options;
    const namespace = pod.metadata?.namespace ?? '';
    await untilKnown({
      isKnown: () => names.every((name) => secrets.secret(namespace, name).state !== 'waiting'),
      onChange: (listener) => secrets.onChange(listener),
      ...{ timeoutMs: secretTimeoutMs, clock, signal },
    });
  }

  #read(pod: Pod, name: string): ReadSecret {
    const namespace = pod.metadata?.namespace ?? '';
    const where = `secret ${namespace}/${name}`;
    const known = this.#options.secrets.secret(namespace, name);
    if (known.state === 'absent') return { mark: '' };
    if (known.state !== 'present')
      return { mark: '', problem: `${where} cannot be read, images are pulled without it: ${known.message}` };
    const found = parseSecret(known.object);
    if (found !== undefined) return { found, mark: markOf(known.object) };
    return {
      mark: '',
      problem: `${where} holds no credentials for images: it needs .dockerconfigjson or .dockercfg`,
    };
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

/** One secret of a pod as it is now. */
interface ReadSecret {
  readonly found?: CredentialsByKey;
  /** Another one for other values; empty for a secret that is of no use. */
  readonly mark: string;
  readonly problem?: string;
}

function namesOf({ spec }: Pod): string[] {
  return [...new Set((spec?.imagePullSecrets ?? []).flatMap(({ name }) => name || []))];
}

function markOf({ data }: Secret): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('base64');
}

function parseSecret({ data = {} }: Secret): CredentialsByKey | undefined {
  const textOf = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  return parseDockerConfig(textOf('.dockerconfigjson')) ?? parseDockercfg(textOf('.dockercfg'));
}

/** What a pod and the node have both is of the node. */
function withoutRepeated(credentials: readonly Credential[]): Credential[] {
  const byText = new Map(credentials.map((each) => [JSON.stringify([each.username, each.password]), each]));
  return [...byText.values()];
}
