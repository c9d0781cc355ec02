import { isImagePathPart } from '../../api/index.ts';

/** An image as a pod names it, understood. */
export interface ImageName {
  /** What the runtime is asked for: with `:latest` where the pod states neither a tag nor a digest. */
  readonly full: string;
  /** With its registry and without tag and digest, such as `docker.io/library/nginx`: credentials are found by it. */
  readonly repository: string;
  /** As the runtime lists it: with its registry, and with its digest, or else its tag. */
  readonly canonical: string;
}

const maxLength = 1024;
const maxRepositoryLength = 255;
const defaultRegistry = 'docker.io';

const host =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d+)?$/;
const tagPattern = /^\w[\w.-]{0,127}$/;
const digestPattern = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** Throws an Error that says what is wrong, in the words of the reference's parser. */
export function parseImageName(text: string): ImageName {
  if (/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(`invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`);
  }
  if (text === '' || text.length > maxLength) throw new Error('invalid reference format');
  const { registry, rest } = splitRegistry(text);
  const { path, tag, digest } = splitPath(rest);
  if (path !== path.toLowerCase()) {
    throw new Error(`invalid reference format: repository name (${path}) must be lowercase`);
  }
  const isWellFormed =
    host.test(registry) &&
    path.split('/').every(isImagePathPart) &&
    (tag === undefined || tagPattern.test(tag)) &&
    (digest === undefined || digestPattern.test(digest));
  if (!isWellFormed) throw new Error('invalid reference format');
  if (digest !== undefined) checkDigest(digest);
  const repository = `${registry}/${path}`;
  if (repository.length > maxRepositoryLength) {
    throw new Error(`repository name must not be more than ${maxRepositoryLength} characters`);
  }
  return {
    full: tag === undefined && digest === undefined ? `${text}:latest` : text,
    repository,
    canonical: digest === undefined ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`,
  };
}

/** The first part is a host when it looks like one; else the image is one of the default registry. */
function splitRegistry(text: string): { registry: string; rest: string } {
  const slash = text.indexOf('/');
  const first = slash === -1 ? '' : text.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const registry = isHost ? first : defaultRegistry;
  const rest = isHost ? text.slice(slash + 1) : text;
  if (registry !== defaultRegistry && registry !== `index.${defaultRegistry}`) return { registry, rest };
  return { registry: defaultRegistry, rest: rest.includes('/') ? rest : `library/${rest}` };
}

function splitPath(rest: string): { path: string; tag: string | undefined; digest: string | undefined } {
  const at = rest.indexOf('@');
  const named = at === -1 ? rest : rest.slice(0, at);
  const colon = named.indexOf(':');
  return {
    path: colon === -1 ? named : named.slice(0, colon),
    tag: colon === -1 ? undefined : named.slice(colon + 1),
    digest: at === -1 ? undefined : rest.slice(at + 1),
  };
}

function checkDigest(digest: string): void {
  const [algorithm = '', hex = ''] = digest.split(':');
  const length = Object.hasOwn(digestLengths, algorithm) ? digestLengths[algorithm] : undefined;
  if (length === undefined) throw new Error('unsupported digest algorithm');
  if (hex.length !== length) throw new Error('invalid checksum digest length');
  if (hex !== hex.toLowerCase()) throw new Error('invalid checksum digest format');
}
