import { loadYamlReader } from '../../../../api/index.ts';
import { isRecord, parseDuration, readRegularFile } from '../../../../base/index.ts';
import { normalizeKey } from '../match.ts';

/** A program that is asked for credentials, as the file of the reference's CredentialProviderConfig describes it. */
export interface ProviderSettings {
  /** Of its file in the folder of the programs. */
  readonly name: string;
  /** For which images it is asked; as the keys of credentials. */
  readonly patterns: readonly string[];
  readonly defaultCacheMs: number;
  /** Of what it is asked and answers. */
  readonly apiVersion: string;
  readonly args: readonly string[];
  /** Beside the variables of the agent. */
  readonly env: Readonly<Record<string, string>>;
}

const maxFileBytes = 1024 * 1024;
const maxProviders = 100;
const configVersion = /^kubelet\.config\.k8s\.io\/v1(?:beta1|alpha1)?$/;
const requestVersion = /^credentialprovider\.kubelet\.k8s\.io\/v1(?:beta1|alpha1)?$/;

/** Rejects with an Error that says what is wrong with the file. */
export async function readProviders(file: string): Promise<readonly ProviderSettings[]> {
  const text = (await readRegularFile(file, { limitBytes: maxFileBytes })).toString('utf8');
  const parseYaml = await loadYamlReader();
  try {
    return parseProviders(parseYaml(text).value);
  } catch (error) {
    throw new Error(`${file} describes no credential providers`, { cause: error });
  }
}

/** Throws an Error that names the field. */
export function parseProviders(value: unknown): readonly ProviderSettings[] {
  if (!isRecord(value)) throw new Error('it is no object');
  const { apiVersion, kind, providers } = value;
  if (
    typeof apiVersion !== 'string' ||
    !configVersion.test(apiVersion) ||
    kind !== 'CredentialProviderConfig'
  ) {
    throw new Error('it must be a CredentialProviderConfig of kubelet.config.k8s.io/v1');
  }
  if (!Array.isArray(providers) || providers.length === 0) throw new Error('providers must not be empty');
  if (providers.length > maxProviders) throw new Error(`there are more than ${maxProviders} providers`);
  const parsed = providers.map((each: unknown, index) => parseProvider(each, `providers[${index}]`));
  const names = new Set(parsed.map(({ name }) => name));
  if (names.size < parsed.length) throw new Error('two providers have the same name');
  return parsed;
}

function parseProvider(value: unknown, path: string): ProviderSettings {
  if (!isRecord(value)) throw new Error(`${path} is no object`);
  const { name, apiVersion, matchImages, defaultCacheDuration, tokenAttributes } = value;
  if (typeof name !== 'string' || !isFileName(name)) {
    throw new Error(`${path}.name must be the name of a file, without folders`);
  }
  if (typeof apiVersion !== 'string' || !requestVersion.test(apiVersion)) {
    throw new Error(`${path}.apiVersion must be credentialprovider.kubelet.k8s.io/v1`);
  }
  if (tokenAttributes !== undefined) {
    throw new Error(
      `${path}.tokenAttributes is not supported: the agent has no tokens of service accounts for providers`,
    );
  }
  const cache = typeof defaultCacheDuration === 'string' ? parseDuration(defaultCacheDuration) : undefined;
  if (cache === undefined || cache < 0n)
    throw new Error(`${path}.defaultCacheDuration must be a duration from 0s on`);
  const patterns = textsIn(matchImages, `${path}.matchImages`).map((text) => normalizeKey(text) ?? '');
  if (patterns.length === 0 || patterns.includes('')) {
    throw new Error(`${path}.matchImages must have patterns such as *.registry.example`);
  }
  return {
    name,
    patterns,
    defaultCacheMs: Number(cache / 1_000_000n),
    apiVersion,
    args: textsIn(value['args'] ?? [], `${path}.args`),
    env: parseVariables(value['env'] ?? [], `${path}.env`),
  };
}

function parseVariables(value: unknown, path: string): Record<string, string> {
  if (!Array.isArray(value)) throw new Error(`${path} must be a list`);
  return Object.fromEntries(
    value.map((each: unknown, index) => {
      const { name, value: text } = isRecord(each) ? each : {};
      if (typeof name !== 'string' || name === '' || typeof text !== 'string') {
        throw new Error(`${path}[${index}] must have a name and a value`);
      }
      return [name, text];
    }),
  );
}

function textsIn(value: unknown, path: string): string[] {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
    throw new Error(`${path} must be a list of texts`);
  }
  return value;
}

const isFileName = (name: string): boolean => /^[^/\s\0]+$/.test(name) && name !== '.' && name !== '..';
