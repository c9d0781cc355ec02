import type { Cause } from '../../../api/index.ts';
import { managerCauses, unsupportedValue } from '../../../api/index.ts';
import { refuseInvalid } from '../invalid-options.ts';
import type { ApiRequest } from '../request.ts';

const fieldValidations = ['Ignore', 'Strict', 'Warn'] as const;
export type FieldValidation = (typeof fieldValidations)[number];

export interface WriteOptions {
  dryRun: boolean;
  /** Who the written fields belong to. */
  manager: string;
  /** Warn unless told otherwise (specification, section 4.8). */
  fieldValidation: FieldValidation;
}

/** The parameters of a write; throws 422 with everything that is wrong with them, and `further` causes. */
export function readWriteOptions(
  request: ApiRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  further: readonly Cause[] = [],
): WriteOptions {
  const { query } = request;
  const self = managerFromUserAgent(request.userAgent ?? '');
  if (query.size + further.length === 0) return { dryRun: false, manager: self, fieldValidation: 'Warn' };
  const manager = query.get('fieldManager') ?? '';
  const dryRun = query.getAll('dryRun');
  const validation = query.get('fieldValidation') || 'Warn';
  const fieldValidation = fieldValidations.find((known) => known === validation);
  refuseInvalid(request, kind, [
    ...further,
    ...managerCauses(manager, 'fieldManager'),
    ...dryRunCauses(dryRun),
    ...(fieldValidation === undefined ? [unsupportedLevel(validation)] : []),
  ]);
  return {
    dryRun: dryRun.length > 0,
    manager: manager || self,
    fieldValidation: fieldValidation ?? 'Warn',
  };
}

/** What is wrong with `dryRun`: it is All; given without a value it means All too (specification, section 4.9). */
export function dryRunCauses(values: readonly string[]): Cause[] {
  const wrong = values.find((value) => value !== 'All' && value !== '');
  return wrong === undefined ? [] : [unsupportedValue('dryRun', wrong, ['All'])];
}

function unsupportedLevel(level: string): Cause {
  return unsupportedValue('fieldValidation', level, ['', ...fieldValidations]);
}

const managerLimitBytes = 128;
/** What nearly every program calls itself. */
const plainName = /^[ -~]{1,128}$/;

/** The client's program, from the first part of what it calls itself, as far as that can be printed and is not too long. */
function managerFromUserAgent(userAgent: string): string {
  const [program = ''] = userAgent.split('/', 1);
  if (plainName.test(program)) return program;
  let manager = '';
  for (const character of program) {
    if (managerCauses(character, 'fieldManager').length > 0) continue;
    if (Buffer.byteLength(manager) + Buffer.byteLength(character) > managerLimitBytes) break;
    manager += character;
  }
  return manager || 'unknown';
}
