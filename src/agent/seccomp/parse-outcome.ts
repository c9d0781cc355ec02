import { actions, codeLimits, kernelNames, toOutcome } from './actions.ts';
import { readText, readUnsigned } from './fields.ts';
import type { Remarks } from './remarks.ts';
import { quote } from './remarks.ts';
import type { Outcome, SeccompAction } from './types.ts';

/** Parses the name of an action; adds an error and returns undefined when it is not one. */
export function parseAction(value: unknown, path: string, remarks: Remarks): SeccompAction | undefined {
  const text = readText(value, path, remarks);
  if (text === undefined) return undefined;
  const action = actions.get(text);
  if (action !== undefined) return action;
  const meant = kernelNames.get(text);
  const advice =
    meant === undefined
      ? `is not one of ${[...actions.keys()].join(', ')}`
      : `is the kernel's name; write ${meant}`;
  remarks.error(path, `${quote(text)} ${advice}`);
  return undefined;
}

/** Combines an action with the code stated for it; a code that the action does not take is an error. */
export function parseOutcome(
  action: SeccompAction | undefined,
  code: unknown,
  path: string,
  remarks: Remarks,
): Outcome | undefined {
  if (action === undefined) return undefined;
  const maxCode = codeLimits[action];
  if (maxCode === undefined) {
    if (code !== undefined) {
      remarks.error(path, `goes with SCMP_ACT_ERRNO and SCMP_ACT_TRACE only, not with ${action}`);
    }
    return { action };
  }
  const found = readUnsigned(code, path, BigInt(maxCode), remarks);
  return toOutcome(action, found === undefined ? undefined : Number(found));
}
