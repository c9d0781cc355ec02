import { checkQualifiedName } from '../../api/index.ts';
import { findSocketPathFault } from '../../base/grpc/index.ts';
import type { PluginAnswer } from './peer.ts';
import type { FoundSocket, PluginInfo } from './types.ts';

const typeLimit = 63;
const versionsLimit = 64;
const versionLimit = 256;

/**
 * What a plugin has said of itself, in the form that handlers take. Throws an Error that says what of it cannot be
 * used: a type or name that is missing, a name that is no qualified name, an endpoint that no socket can have, no
 * versions or too many.
 */
export function checkAnswer(answer: PluginAnswer, socket: Pick<FoundSocket, 'path' | 'madeMs'>): PluginInfo {
  const { type, name, supportedVersions: versions } = answer;
  const endpoint = answer.endpoint === '' ? socket.path : answer.endpoint;
  const fault =
    typeFault(type) ?? nameFault(name) ?? endpointFault(endpoint, answer.endpoint) ?? versionsFault(versions);
  if (fault !== undefined) throw new Error(fault);
  return { type, name, endpoint, versions: [...versions], socket: socket.path, madeMs: socket.madeMs };
}

function typeFault(type: string): string | undefined {
  if (type === '') return 'type: Required value';
  if (type.length > typeLimit) return `type: Too long: may not be more than ${typeLimit} characters`;
  return /^[\w.-]+$/.test(type) ? undefined : `type: Invalid value: ${shown(type)}: letters and digits only`;
}

function nameFault(name: string): string | undefined {
  if (name === '') return 'name: Required value';
  const wrong = checkQualifiedName(name);
  return wrong === undefined ? undefined : `name: Invalid value: ${shown(name)}: ${wrong}`;
}

function endpointFault(endpoint: string, told: string): string | undefined {
  if (told === '') return undefined; // the socket itself, which has been reached
  const wrong = /\p{Cc}/u.test(endpoint) ? 'control characters in it' : findSocketPathFault(endpoint);
  return wrong === undefined ? undefined : `endpoint: Invalid value: ${shown(endpoint)}: ${wrong}`;
}

function versionsFault(versions: readonly string[]): string | undefined {
  if (versions.length === 0) return 'supported_versions: Required value';
  if (versions.length > versionsLimit)
    return `supported_versions: Too many: ${versions.length}: must have at most ${versionsLimit} items`;
  const wrong = versions.find((version) => version.length > versionLimit || !/^[\x21-\x7e]+$/.test(version));
  if (wrong === undefined) return undefined;
  return `supported_versions: Invalid value: ${shown(wrong)}: 1 to ${versionLimit} visible characters`;
}

const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
