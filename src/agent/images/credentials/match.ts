import type { Credential, CredentialsByKey } from './types.ts';

/** Under this key stand those of the default registry. */
const defaultKey = 'index.docker.io';

/**
 * The credentials for a repository (`docker.io/library/nginx`), those of the most specific keys first; empty: none fit.
 * A key is `HOST[:PORT][/PATH]`. The ports must be equal, the host must have as many labels as the registry's name, each
 * matched with `*` within one label, and the path must be a plain prefix.
 */
export function findCredentials(known: CredentialsByKey, repository: string): readonly Credential[] {
  const keys = [...known.keys()].sort().reverse();
  const fitting = keys.filter((key) => isKeyFor(key, repository));
  if (fitting.length > 0) return fitting.flatMap((key) => known.get(key) ?? []);
  return isOfDefaultRegistry(repository) ? (known.get(defaultKey) ?? []) : [];
}

/** Whether what stands under the key, or is to be asked for images that match it, is for this repository. */
export function isKeyFor(key: string, repository: string): boolean {
  const wanted = splitKey(key);
  const given = splitKey(repository);
  return (
    wanted.port === given.port &&
    wanted.labels.length === given.labels.length &&
    given.path.startsWith(wanted.path) &&
    wanted.labels.every((label, index) => matchesLabel(given.labels[index] ?? '', label))
  );
}

/** Without its scheme, and without the path of the registry's API. Undefined for what is no address. */
export function normalizeKey(stated: string): string | undefined {
  const [, address = ''] = /^(?:https?:\/\/)?(.*)$/s.exec(stated) ?? [];
  const [, registry = '', path = ''] = /^([^/?#\s]+)(\/[^?#\s]*)?$/.exec(address) ?? [];
  if (registry === '') return undefined;
  const shortened = path.replace(/^\/v[12]\//, '/');
  return shortened === '/' ? registry : `${registry}${shortened}`;
}

function splitKey(key: string): { labels: readonly string[]; port: string; path: string } {
  const slash = key.indexOf('/');
  const registry = slash === -1 ? key : key.slice(0, slash);
  const [, name = '', port = ''] = /^(.*?)(?::(\d*))?$/s.exec(registry) ?? [];
  return { labels: name.split('.'), port, path: slash === -1 ? '' : key.slice(slash) };
}

function isOfDefaultRegistry(repository: string): boolean {
  return repository.startsWith('docker.io/');
}

/** `*` stands for any characters. In at most as many steps as both have characters together, multiplied. */
function matchesLabel(label: string, pattern: string): boolean {
  let at = 0;
  /** Behind the last star, and up to where that star reaches. */
  let star: { next: number; end: number } | undefined;
  let next = 0;
  while (at < label.length) {
    if (pattern[next] === '*') {
      next += 1;
      star = { next, end: at };
    } else if (pattern[next] === label[at]) {
      next += 1;
      at += 1;
    } else if (star !== undefined) {
      star.end += 1;
      at = star.end;
      next = star.next;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(next));
}
