import { JsonError, parseJson } from '../../json/index.ts';
import type { Infer } from '../../schema/index.ts';
import { bool, bytes, field, isRecord, map, string } from '../../schema/index.ts';
import { invalidValue, requiredValue, tooLongValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { dataBytes, dataKeyCauses, dataLimitBytes, immutableCauses } from './data-map.ts';

const root = objectStruct('Secret', {
  immutable: field(5, bool, 'Whether the values can no longer be changed.', { pointer: true }),
  data: field(2, map(bytes), 'Values that are any bytes, by key.'),
  stringData: field(4, map(string), 'Values as text; moved to data when written, and never shown.'),
  type: field(3, string, 'What the values are for: Opaque, kubernetes.io/tls …'),
});

/** Confidential values by key. */
export interface Secret extends Infer<typeof root> {}

const defaultType = 'Opaque';
/** Replaces a value in an error. */
const redacted = '<secret contents redacted>';

/** Moves stringData into data, where it replaces values of the same key. */
function withDefaults({ stringData, ...secret }: Secret): Secret {
  const type = secret.type || defaultType;
  if (stringData === undefined) return { ...secret, type };
  const moved = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { ...secret, data: { ...secret.data, ...Object.fromEntries(moved) }, type };
}

function validate(next: Secret, old: Secret | undefined): Cause[] {
  const { data = {} } = next;
  const tooLong = dataBytes(data, 'base64') > dataLimitBytes;
  return [
    ...dataKeyCauses('data', data),
    ...(tooLong ? [tooLongValue('data', dataLimitBytes)] : typeCauses(next, data)),
    ...(old === undefined || next.type === old.type
      ? []
      : [invalidValue('type', redacted, 'field is immutable')]),
    ...immutableCauses(next, old, ['data']),
  ];
}

const accountAnnotation = 'kubernetes.io/service-account.name';

/** The keys that the users of a type of Secret require. */
function typeCauses({ type, metadata }: Secret, data: Readonly<Record<string, string>>): Cause[] {
  const missing = (...keys: string[]) =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => requiredValue(`data[${key}]`));
  switch (type) {
    case 'kubernetes.io/service-account-token':
      if (metadata?.annotations?.[accountAnnotation]) return [];
      return [requiredValue(`metadata.annotations[${accountAnnotation}]`)];
    case 'kubernetes.io/dockercfg':
      return registryCauses(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return registryCauses(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth': {
      const causes = missing('username', 'password');
      return causes.length < 2 ? [] : causes; // one of the two is enough
    }
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [requiredValue('data[ssh-privatekey]')];
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

/** The credentials of image registries are a JSON object. */
function registryCauses(data: Readonly<Record<string, string>>, key: string): Cause[] {
  const value = data[key];
  const field = `data[${key}]`;
  if (value === undefined) return [requiredValue(field)];
  if (isJsonObject(Buffer.from(value, 'base64').toString('utf8'))) return [];
  return [invalidValue(field, redacted, 'must be a JSON object')];
}

function isJsonObject(text: string): boolean {
  try {
    return isRecord(parseJson(text).value);
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

export const secretKind = defineKind<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  doc: 'Values that are not for everybody, such as passwords and keys.',
  resource: 'secrets',
  singular: 'secret',
  namespaced: true,
  root,
  sensitive: true,
  default: withDefaults,
  validate,
  columns: [
    {
      name: 'Type',
      type: 'string',
      description: 'What the values are for.',
      priority: 0,
      value: ({ type = '' }) => type,
    },
    {
      name: 'Data',
      type: 'string',
      description: 'Number of values.',
      priority: 0,
      value: ({ data = {} }) => Object.keys(data).length,
    },
    ageColumn,
  ],
  selectable: [{ path: 'type', value: ({ type = '' }) => type }],
});
