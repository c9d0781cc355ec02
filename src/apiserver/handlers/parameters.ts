import type { Cause, Kind } from '../../api/index.ts';
import { parseFieldSelector, parseLabelSelector, SelectorError, StatusError } from '../../api/index.ts';
import type { ApiRequest } from './request.ts';

const trueTexts = ['1', 't', 'T', 'true', 'TRUE', 'True', ''];
const falseTexts = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** A boolean parameter; absent is false, present without a value is true. Throws 400 on anything else. */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || falseTexts.includes(text)) return false;
  if (trueTexts.includes(text)) return true;
  throw new StatusError(
    'BadRequest',
    `the parameter ${name} must be true or false, not ${JSON.stringify(text)}`,
  );
}

/** An integer parameter of at least 0, or undefined. Throws 400 on anything else. */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text)) return value;
  throw new StatusError(
    'BadRequest',
    `the parameter ${name} must be a whole number, not ${JSON.stringify(text)}`,
  );
}

/** A resourceVersion parameter: undefined when unset. Throws 400 when it is none of ours. */
export function versionParameter(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new StatusError(
    'BadRequest',
    `Invalid value: ${JSON.stringify(text)}: resource version is none of this server`,
  );
}

/** Options that are understood but wrong are 422 with a cause, as the reference answers them. */
export function invalidOption(
  kind: string,
  field: string,
  message: string,
  reason: Cause['reason'],
): StatusError {
  return new StatusError('Invalid', `${kind}.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    details: { group: 'meta.k8s.io', kind, causes: [{ reason, message, field }] },
  });
}

/** `dryRun`: absent, or All; present without a value means All (specification, section 4.9). */
export function dryRunParameter(query: URLSearchParams, optionsKind: string): boolean {
  const values = query.getAll('dryRun');
  const wrong = values.find((value) => value !== 'All' && value !== '');
  if (wrong === undefined) return values.length > 0;
  const message = `Unsupported value: ${JSON.stringify(wrong)}: supported values: "All"`;
  throw invalidOption(optionsKind, 'dryRun', message, 'FieldValueNotSupported');
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** `fieldValidation`: Warn unless told otherwise (specification, section 4.8). */
export function fieldValidationParameter(query: URLSearchParams, optionsKind: string): FieldValidation {
  const text = query.get('fieldValidation');
  if (text === null || text === '' || text === 'Warn') return 'Warn';
  if (text === 'Ignore' || text === 'Strict') return text;
  const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "Ignore", "Strict", "Warn"`;
  throw invalidOption(optionsKind, 'fieldValidation', message, 'FieldValueNotSupported');
}

/** The selectors of a list or watch as one test on objects; undefined when there are none. Throws 400. */
export function selectorParameters(request: ApiRequest): ((object: object) => boolean) | undefined {
  const { query, resource } = request;
  const labels = query.get('labelSelector');
  const fields = query.get('fieldSelector');
  if (!labels && !fields) return undefined;
  return parseSelectors(resource.kind, labels ?? '', fields ?? '');
}

function parseSelectors(kind: Kind, labels: string, fields: string): (object: object) => boolean {
  try {
    const byLabels = parseLabelSelector(labels);
    const byFields = parseFieldSelector(kind, fields);
    return (object) => byLabels.matches(object) && byFields.matches(object);
  } catch (error) {
    if (error instanceof SelectorError) throw new StatusError('BadRequest', error.message, { cause: error });
    throw error;
  }
}
