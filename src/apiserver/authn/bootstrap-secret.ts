import type { Secret } from '../../api/index.ts';
import { checkName } from '../../api/index.ts';

/*
 * How a bootstrap token is kept: a Secret of the namespace kube-system that has the token's id in its name, as in the
 * reference. The id is no secret; it names the token in lists, logs and the name of its user.
 */

export const bootstrapNamespace = 'kube-system';
export const bootstrapSecretType = 'bootstrap.kubernetes.io/token';
export const bootstrapSecretPrefix = 'bootstrap-token-';
/** Everybody who comes with a bootstrap token is in it; the further groups of a token begin with it and a colon. */
export const bootstrappersGroup = 'system:bootstrappers';

/** What a Secret says of a token. */
export interface BootstrapToken {
  id: string;
  secret: string;
  /** Wall clock, milliseconds; infinite where it does not end. */
  untilMs: number;
  mayAuthenticate: boolean;
  /** Beside `system:bootstrappers`. */
  groups: readonly string[];
  /** The nodes that it can be used for; undefined: any. */
  nodeNames: readonly string[] | undefined;
  description: string;
}

/** What is known of a user who came with a token that is for some nodes only: their names. */
export const bootstrapNodeNames = 'authentication.nodeward.io/node-names';
const maxNodeNames = 100;

const idForm = /^[a-z0-9]{6}$/;
const secretForm = /^[a-z0-9]{16}$/;
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** The parts of `ID.SECRET`; undefined when it is no bootstrap token. */
export function bootstrapTokenParts(token: string): { id: string; secret: string } | undefined {
  const [id = '', secret = '', ...rest] = token.split('.');
  return idForm.test(id) && secretForm.test(secret) && rest.length === 0 ? { id, secret } : undefined;
}

export function isBootstrapGroup(group: string): boolean {
  return groupForm.test(group);
}

/** The token that a Secret holds; undefined when anything of it is not as it should be. */
export function readBootstrapSecret({ metadata = {}, type, data = {} }: Secret): BootstrapToken | undefined {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const [id, secret] = [text('token-id'), text('token-secret')];
  const untilMs = endOf(text('expiration'));
  const groups = splitList(text('auth-extra-groups'));
  const nodeNames = data['node-names'] === undefined ? undefined : splitList(text('node-names'));
  const isWhole =
    type === bootstrapSecretType &&
    metadata.name === bootstrapSecretPrefix + id &&
    bootstrapTokenParts(`${id}.${secret}`) !== undefined &&
    untilMs !== undefined &&
    groups.every(isBootstrapGroup) &&
    (nodeNames === undefined || areNodeNames(nodeNames));
  if (!isWhole) return undefined;
  const mayAuthenticate = text('usage-bootstrap-authentication') === 'true';
  return { id, secret, untilMs, mayAuthenticate, groups, nodeNames, description: text('description') };
}

/** Nobody can become a node without a name: an empty list is a mistake. */
export function areNodeNames(names: readonly string[]): boolean {
  if (names.length === 0 || names.length > maxNodeNames) return false;
  return names.every((name) => checkName('subdomain', name) === undefined);
}

function splitList(text: string): string[] {
  return text === '' ? [] : [...new Set(text.split(',').map((part) => part.trim()))].sort();
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Of an RFC 3339 time; infinite where there is none, undefined where it is something else. */
function endOf(text: string): number | undefined {
  if (text === '') return Number.POSITIVE_INFINITY;
  const ms = time.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
