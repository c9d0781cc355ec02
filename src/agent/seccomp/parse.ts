import { architectures } from './architectures.ts';
import { at, readList, readObject, readText, readTexts, warnUnknownFields } from './fields.ts';
import { parseAction, parseOutcome } from './parse-outcome.ts';
import { parseRule } from './parse-rule.ts';
import type { Remarks } from './remarks.ts';
import { quote } from './remarks.ts';
import type { Outcome, SeccompProfile } from './types.ts';

/** How many rules a profile may have. */
export const rulesLimit = 5000;
const listLimit = 100;

const knownFields = [
  'defaultAction',
  'defaultErrnoRet',
  'architectures',
  'flags',
  'listenerPath',
  'listenerMetadata',
  'syscalls',
];
/** Further fields of Docker's profiles; parse-rule.ts has those of rules. */
const dockerFields = ['archMap', 'comment'];

const flags = [
  'SECCOMP_FILTER_FLAG_TSYNC',
  'SECCOMP_FILTER_FLAG_LOG',
  'SECCOMP_FILTER_FLAG_SPEC_ALLOW',
  'SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV',
];

/** Parses a profile and adds a remark for each fault; undefined when there is no usable default action. */
export function parseProfile(value: unknown, remarks: Remarks): SeccompProfile | undefined {
  const object = readObject(value, '', remarks);
  if (object === undefined) return undefined;
  warnUnknownFields(object, [...knownFields, ...dockerFields], '', remarks);
  if (object['archMap'] !== undefined) {
    remarks.warn(
      'archMap',
      'is of Docker, and containerd does not read it: the filter is for the architectures in `architectures` and the node’s own, and calls of others kill; write architectures',
    );
  }
  const defaultOutcome = parseDefault(object, remarks);
  const listenerPath = readText(object['listenerPath'], 'listenerPath', remarks);
  const listenerMetadata = readText(object['listenerMetadata'], 'listenerMetadata', remarks);
  const rules = readList(object['syscalls'], 'syscalls', rulesLimit, remarks).flatMap(
    (item, index) => parseRule(item, at('syscalls', index), remarks) ?? [],
  );
  if (defaultOutcome === undefined) return undefined;
  return {
    defaultOutcome,
    architectures: parseArchitectures(object['architectures'], remarks),
    flags: parseFlags(object['flags'], remarks),
    ...(listenerPath === undefined ? {} : { listenerPath }),
    ...(listenerMetadata === undefined ? {} : { listenerMetadata }),
    rules,
  };
}

function parseDefault(object: Record<string, unknown>, remarks: Remarks): Outcome | undefined {
  if (object['defaultAction'] === undefined || object['defaultAction'] === '') {
    remarks.error(
      'defaultAction',
      'is required: without it a container does not start, or without syscalls starts unconfined',
    );
    return undefined;
  }
  const action = parseAction(object['defaultAction'], 'defaultAction', remarks);
  if (action === 'SCMP_ACT_NOTIFY') {
    remarks.error('defaultAction', 'SCMP_ACT_NOTIFY cannot be the default: write would be among its calls');
  }
  return parseOutcome(action, object['defaultErrnoRet'], 'defaultErrnoRet', remarks);
}

function parseArchitectures(value: unknown, remarks: Remarks): string[] {
  const names = readTexts(value, 'architectures', listLimit, remarks);
  for (const [index, name] of names.entries()) {
    const path = at('architectures', index);
    const facts = architectures.get(name);
    if (facts === undefined)
      remarks.error(path, `${quote(name)} is no architecture of the OCI runtime specification`);
    else if (facts.unknownToRunc)
      remarks.warn(path, `${name} is not known to runc, which refuses the profile`);
    else if (names.indexOf(name) < index) remarks.warn(path, `${name} stands there already`);
  }
  return names;
}

function parseFlags(value: unknown, remarks: Remarks): string[] {
  const found = readTexts(value, 'flags', listLimit, remarks);
  for (const [index, flag] of found.entries()) {
    const path = at('flags', index);
    if (!flags.includes(flag)) remarks.error(path, `${quote(flag)} is not one of ${flags.join(', ')}`);
    else if (found.indexOf(flag) < index) remarks.warn(path, `${flag} stands there already`);
  }
  return found;
}
