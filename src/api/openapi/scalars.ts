import type { Scalar } from '../schema/index.ts';
import type { Dialect, Schema } from './schema.ts';

/** A scalar that is a component of its own. */
export interface ScalarComponent {
  name: string;
  schema(dialect: Dialect): Schema;
}

const inline: Partial<Readonly<Record<Scalar, Schema>>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const components: Partial<Readonly<Record<Scalar, ScalarComponent>>> = {
  time: createComponent(`${meta}.Time`, 'A time in RFC 3339, whole seconds, UTC.', 'string', 'date-time'),
  microTime: createComponent(
    `${meta}.MicroTime`,
    'A time in RFC 3339 with six digits of a second, UTC.',
    'string',
    'date-time',
  ),
  duration: createComponent(`${meta}.Duration`, 'A length of time such as 1m30s.', 'string'),
  fieldsV1: createComponent(
    `${meta}.FieldsV1`,
    'A set of fields: each key is a field or an item, f: or k:.',
    'object',
  ),
  raw: createComponent('io.k8s.apimachinery.pkg.runtime.RawExtension', 'Any object.', 'object'),
  quantity: {
    name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
    schema: ({ either }) =>
      either(['string', 'number'], { description: 'A number with a unit, such as 500m or 16Gi.' }),
  },
  intOrString: {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    schema: ({ either }) =>
      either(['integer', 'string'], { description: 'A number or text.', format: 'int-or-string' }),
  },
};

function createComponent(name: string, description: string, type: string, format?: string): ScalarComponent {
  return { name, schema: () => ({ description, type, ...(format === undefined ? {} : { format }) }) };
}

/** The schema of a scalar that has no component. */
export function inlineScalar(scalar: Scalar): Schema | undefined {
  return inline[scalar];
}

/** The component of a scalar that has one. */
export function scalarComponent(scalar: Scalar): ScalarComponent | undefined {
  return components[scalar];
}

const zeros: Partial<Readonly<Record<Scalar, unknown>>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
};

/** The value that a required scalar has when it is absent; undefined when it has none. */
export function zeroOf(scalar: Scalar): unknown {
  return zeros[scalar];
}
