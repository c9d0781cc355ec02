import { actions, codeLimits, kernelNames, outcomeOf } from './actions.ts';
import { readText, readUnsigned } from './fields.ts';
import type { Remarks } from './remarks.ts';
import { quoted } from './remarks.ts';
import type { Outcome, SeccompAction } from './types.ts';

/** By its name in a file; undefined, and told, for what is none. */
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
  remarks.error(path, `${quoted(text)} ${advice}`);
  return undefined;
}

/** An action with the code that is stated for it. */
export function parseOutcome(
  action: SeccompAction | undefined,
  code: unknown,
  path: string,
  remarks: Remarks,
): Outcome | undefined {
  if (action === undefined) return undefined;
  const most = codeLimits[action];
  if (most === undefined) {
    if (code !== undefined) {
      remarks.error(path, `goes with SCMP_ACT_ERRNO and SCMP_ACT_TRACE only, not with ${action}`);
    }
    return { action };
  }
  const found = readUnsigned(code, path, BigInt(most), remarks);
  return outcomeOf(action, found === undefined ? undefined : Number(found));
}
