import type { Cause } from '../../../api/index.ts';
import { managerCauses, unsupportedValue } from '../../../api/index.ts';
import { refuseInvalid } from '../invalid-options.ts';
import type { ApiRequest } from '../request.ts';

const fieldValidations = ['Ignore', 'Strict', 'Warn'] as const;
export type FieldValidation = (typeof fieldValidations)[number];

export interface WriteOptions {
  dryRun: boolean;
  /** The field manager of the written fields. */
  manager: string;
  /** Default Warn (specification, section 4.8). */
  fieldValidation: FieldValidation;
}

/** Reads the parameters of a write; throws 422 with everything that is wrong with them, and the `further` causes. */
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

/** The causes why `dryRun` is invalid: it must be All; without a value it means All too (specification, section 4.9). */
export function dryRunCauses(values: readonly string[]): Cause[] {
  const wrong = values.find((value) => value !== 'All' && value !== '');
  return wrong === undefined ? [] : [unsupportedValue('dryRun', wrong, ['All'])];
}

function unsupportedLevel(level: string): Cause {
  return unsupportedValue('fieldValidation', level, ['', ...fieldValidations]);
}

const managerLimitBytes = 128;
/** The product name of most user agents. */
const plainName = /^[ -~]{1,128}$/;

/** The name of the client's program: the first part of its User-Agent header, without unprintable characters and shortened. */
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
