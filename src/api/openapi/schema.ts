/** The parts of JSON Schema that are used here; the same in Swagger 2.0 and OpenAPI 3.0. */
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

/** Clients find the schema of an object by this. */
export interface GroupVersionKind {
  /** With its suffix; empty for the core group. */
  group: string;
  version: string;
  kind: string;
}

/** The differences between the two versions of OpenAPI in schemas. */
export interface Dialect {
  /** The prefix of references to components: `#/definitions/`. */
  prefix: string;
  /** A reference with further keywords. */
  refer(ref: string, beside: Schema): Schema;
  /** A value of one of several types. */
  either(types: readonly string[], beside: Schema): Schema;
  /** Whether schemas have the default of absent fields. */
  defaults: boolean;
}

/** Swagger 2.0 allows one type per schema: quantities are strings, and the format says that numbers are allowed. */
export const swagger2: Dialect = {
  prefix: '#/definitions/',
  refer: ($ref, beside) => ({ ...beside, $ref }),
  either: (_types, beside) => ({ ...beside, type: 'string' }),
  defaults: false,
};

/** OpenAPI 3.0 allows nothing beside a reference, so a reference with further keywords is wrapped in `allOf`. */
export const openApi3: Dialect = {
  prefix: '#/components/schemas/',
  refer: ($ref, beside) => (Object.keys(beside).length === 0 ? { $ref } : { ...beside, allOf: [{ $ref }] }),
  either: (types, beside) => ({ ...beside, oneOf: types.map((type) => ({ type })) }),
  defaults: true,
};
