import type { Cause } from '../../api/index.ts';
import { invalidValue, unsupportedValue } from '../../api/index.ts';
import { refuseInvalid } from './invalid-options.ts';
import type { ApiRequest } from './request.ts';

const fieldValidations = ['Ignore', 'Strict', 'Warn'] as const;
export type FieldValidation = (typeof fieldValidations)[number];

export interface WriteOptions {
  dryRun: boolean;
  /** Warn unless told otherwise (specification, section 4.8). */
  fieldValidation: FieldValidation;
}

/** The parameters of a write; throws 422 with everything that is wrong with them. */
export function readWriteOptions(
  request: ApiRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions {
  const { query } = request;
  const dryRun = query.getAll('dryRun');
  const validation = query.get('fieldValidation') || 'Warn';
  const fieldValidation = fieldValidations.find((known) => known === validation);
  refuseInvalid(request, kind, [
    ...managerCauses(query.get('fieldManager') ?? ''),
    ...dryRunCauses(dryRun),
    ...(fieldValidation === undefined ? [unsupportedLevel(validation)] : []),
  ]);
  return { dryRun: dryRun.length > 0, fieldValidation: fieldValidation ?? 'Warn' };
}

/** What is wrong with `dryRun`: it is All; given without a value it means All too (specification, section 4.9). */
export function dryRunCauses(values: readonly string[]): Cause[] {
  const wrong = values.find((value) => value !== 'All' && value !== '');
  return wrong === undefined ? [] : [unsupportedValue('dryRun', wrong, ['All'])];
}

function unsupportedLevel(level: string): Cause {
  return unsupportedValue('fieldValidation', level, ['', ...fieldValidations]);
}

const managerLimit = 128;
/** As Go's unicode.IsPrint: the only space is the plain one. */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

function managerCauses(manager: string): Cause[] {
  if (manager === '') return [];
  const causes: Cause[] = [];
  if ([...manager].length > managerLimit) {
    const message = `Too long: may not be more than ${managerLimit} characters`;
    causes.push({ reason: 'FieldValueTooLong', field: 'fieldManager', message });
  }
  const bad = unprintable.exec(manager);
  if (bad !== null) {
    const code = bad[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    causes.push(
      invalidValue('fieldManager', manager, `invalid character U+${code} (at position ${bad.index})`),
    );
  }
  return causes;
}
