import { hasRepeatedIndex, isOperator, operators } from './conditions.ts';
import { at, readList, readObject, readText, readTexts, readUnsigned, warnUnknownFields } from './fields.ts';
import { parseAction, parseOutcome } from './parse-outcome.ts';
import type { Remarks } from './remarks.ts';
import { quote } from './remarks.ts';
import type { ArgCondition, SeccompRule } from './types.ts';

const namesLimit = 5000;
const argsLimit = 24;
const maxUint64 = (1n << 64n) - 1n;
const lastArgument = 5n;

const knownFields = ['names', 'action', 'errnoRet', 'args'];
const dockerFields = ['name', 'comment', 'includes', 'excludes'];

/** Parses an item of `syscalls`; undefined when it is no object or has no valid action. */
export function parseRule(value: unknown, path: string, remarks: Remarks): SeccompRule | undefined {
  const object = readObject(value, path, remarks);
  if (object === undefined) return undefined;
  warnUnknownFields(object, [...knownFields, ...dockerFields], path, remarks);
  warnDockerFields(object, path, remarks);
  const names = parseNames(object, path, remarks);
  const action = parseAction(object['action'] ?? '', `${path}.action`, remarks);
  const outcome = parseOutcome(action, object['errnoRet'], `${path}.errnoRet`, remarks);
  const args = readList(object['args'], `${path}.args`, argsLimit, remarks).flatMap(
    (item, index) => parseCondition(item, at(`${path}.args`, index), remarks) ?? [],
  );
  if (hasRepeatedIndex(args)) {
    remarks.warn(
      `${path}.args`,
      'has two conditions on one argument: runc then takes each condition for a rule of its own, so that one of them is enough',
    );
  }
  return outcome === undefined ? undefined : { path, names, outcome, args };
}

/** Warns of fields that Docker reads and containerd ignores. */
function warnDockerFields(object: Record<string, unknown>, path: string, remarks: Remarks): void {
  for (const name of ['includes', 'excludes']) {
    const stated = object[name];
    if (stated === undefined || isEmpty(stated)) continue;
    remarks.warn(
      `${path}.${name}`,
      'is of Docker, and containerd does not read it: the rule counts for every container, whatever its capabilities, architecture and kernel',
    );
  }
  if (object['name'] === undefined) return;
  if (Array.isArray(object['names']) && object['names'].length > 0) {
    remarks.warn(`${path}.name`, 'is of Docker, and containerd does not read it: only `names` counts');
  }
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every((each) => each === null);

function parseNames(object: Record<string, unknown>, path: string, remarks: Remarks): string[] {
  const names = readTexts(object['names'], `${path}.names`, namesLimit, remarks);
  for (const [index, name] of names.entries()) {
    const where = at(`${path}.names`, index);
    if (name === '') remarks.error(where, 'is empty, which runtimes refuse');
    else if (name.includes('\0'))
      remarks.error(where, `${quote(name)} has a zero byte, and runtimes take what stands before it`);
  }
  const list = object['names'];
  if (list !== undefined && !(Array.isArray(list) && list.length === 0)) return names;
  const why = 'a rule without names does nothing';
  if (object['name'] === undefined) remarks.error(`${path}.names`, `must name at least one call: ${why}`);
  else remarks.error(`${path}.name`, `is of Docker, and containerd does not read it: ${why}; write names`);
  return names;
}

function parseCondition(value: unknown, path: string, remarks: Remarks): ArgCondition | undefined {
  const object = readObject(value, path, remarks);
  if (object === undefined) return undefined;
  warnUnknownFields(object, ['index', 'value', 'valueTwo', 'op'], path, remarks);
  for (const name of ['index', 'value', 'op'])
    if (object[name] === undefined) remarks.error(`${path}.${name}`, 'is required');
  const index = readUnsigned(object['index'], `${path}.index`, lastArgument, remarks);
  const first = readUnsigned(object['value'], `${path}.value`, maxUint64, remarks);
  const second = readUnsigned(object['valueTwo'], `${path}.valueTwo`, maxUint64, remarks) ?? 0n;
  const op = readText(object['op'], `${path}.op`, remarks);
  if (op === undefined) return undefined;
  if (!isOperator(op)) {
    remarks.error(`${path}.op`, `${quote(op)} is not one of ${operators.join(', ')}`);
    return undefined;
  }
  if (op !== 'SCMP_CMP_MASKED_EQ' && second !== 0n)
    remarks.warn(`${path}.valueTwo`, 'counts with SCMP_CMP_MASKED_EQ only');
  if (index === undefined || first === undefined) return undefined;
  return { index: Number(index), op, value: first, valueTwo: second };
}
