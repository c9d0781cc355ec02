/** What of a JSON schema is used here; Swagger 2.0 and OpenAPI 3.0 write it alike. */
export interface Schema {
  $ref?: string;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  additionalProperties?: Schema;
  uniqueItems?: boolean;
  'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
}

/** By this clients find the schema of an object that they have. */
export interface GroupVersionKind {
  /** With its suffix; empty for the core group. */
  group: string;
  version: string;
  kind: string;
}

/** Where the two versions of OpenAPI write schemas differently. */
export interface Dialect {
  /** How components are pointed to: `#/definitions/`. */
  prefix: string;
  /** A reference that says more than where it points to. */
  refer(ref: string, beside: Schema): Schema;
  /** A value of one of several types. */
  either(types: readonly string[], beside: Schema): Schema;
  /** Whether schemas tell the value of a field that was left out. */
  defaults: boolean;
}

/** Swagger 2.0: one type per schema; text stands for a quantity, and the format tells of numbers. */
export const swagger2: Dialect = {
  prefix: '#/definitions/',
  refer: ($ref, beside) => ({ ...beside, $ref }),
  either: (_types, beside) => ({ ...beside, type: 'string' }),
  defaults: false,
};

/** OpenAPI 3.0: nothing may stand beside a reference, so the reference stands in a list. */
export const openApi3: Dialect = {
  prefix: '#/components/schemas/',
  refer: ($ref, beside) => (Object.keys(beside).length === 0 ? { $ref } : { ...beside, allOf: [{ $ref }] }),
  either: (types, beside) => ({ ...beside, oneOf: types.map((type) => ({ type })) }),
  defaults: true,
};
