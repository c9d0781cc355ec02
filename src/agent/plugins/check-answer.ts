import { checkQualifiedName } from '../../api/index.ts';
import { findSocketPathFault } from '../../base/grpc/index.ts';
import type { PluginAnswer } from './peer.ts';
import type { FoundSocket, PluginInfo } from './types.ts';

const typeLimit = 63;
const versionsLimit = 64;
const versionLimit = 256;

/**
 * Checks a plugin's response and converts it to the form that handlers take. Throws an Error that says what is wrong: a
 * missing type or name, a name that is no qualified name, an endpoint that no socket can have, no versions or too many.
 */
export function checkAnswer(answer: PluginAnswer, socket: Pick<FoundSocket, 'path' | 'madeMs'>): PluginInfo {
  const { type, name, supportedVersions: versions } = answer;
  const endpoint = answer.endpoint === '' ? socket.path : answer.endpoint;
  const fault =
    findTypeFault(type) ??
    findNameFault(name) ??
    findEndpointFault(endpoint, answer.endpoint) ??
    findVersionsFault(versions);
  if (fault !== undefined) throw new Error(fault);
  return { type, name, endpoint, versions: [...versions], socket: socket.path, madeMs: socket.madeMs };
}

function findTypeFault(type: string): string | undefined {
  if (type === '') return 'type: Required value';
  if (type.length > typeLimit) return `type: Too long: may not be more than ${typeLimit} characters`;
  return /^[\w.-]+$/.test(type) ? undefined : `type: Invalid value: ${quote(type)}: letters and digits only`;
}

function findNameFault(name: string): string | undefined {
  if (name === '') return 'name: Required value';
  const wrong = checkQualifiedName(name);
  return wrong === undefined ? undefined : `name: Invalid value: ${quote(name)}: ${wrong}`;
}

function findEndpointFault(endpoint: string, stated: string): string | undefined {
  if (stated === '') return undefined; // the registration socket itself, which has been reached
  const wrong = /\p{Cc}/u.test(endpoint) ? 'control characters in it' : findSocketPathFault(endpoint);
  return wrong === undefined ? undefined : `endpoint: Invalid value: ${quote(endpoint)}: ${wrong}`;
}

function findVersionsFault(versions: readonly string[]): string | undefined {
  if (versions.length === 0) return 'supported_versions: Required value';
  if (versions.length > versionsLimit)
    return `supported_versions: Too many: ${versions.length}: must have at most ${versionsLimit} items`;
  const wrong = versions.find((version) => version.length > versionLimit || !/^[\x21-\x7e]+$/.test(version));
  if (wrong === undefined) return undefined;
  return `supported_versions: Invalid value: ${quote(wrong)}: 1 to ${versionLimit} visible characters`;
}

const quote = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
