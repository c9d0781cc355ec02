/*
 * The language in which kinds are described. A description is plain data. Everything that the server does with a kind
 * (strict decoding, protobuf, patches, OpenAPI) is derived from it, and so is the TypeScript type, through `Infer`.
 */

/** The JSON value of each scalar after decoding. */
export interface ScalarValues {
  string: string;
  bool: boolean;
  int32: number;
  /** Safe integers only: JSON numbers beyond 2^53 are refused. */
  int64: number;
  double: number;
  /** Base64 text; line breaks in it are removed. */
  bytes: string;
  /** RFC 3339, whole seconds, UTC; other zones and fractions are accepted and converted. */
  time: string;
  /** RFC 3339 with six digits of a second, UTC; other forms are accepted and converted. */
  microTime: string;
  /** Go's duration text, `1m30s`. */
  duration: string;
  /** `500m`, `16Gi`, in canonical form; other forms and JSON numbers are accepted and converted. */
  quantity: string;
  intOrString: number | string;
  fieldsV1: Readonly<Record<string, unknown>>;
  /** Any JSON value. */
  raw: unknown;
}
export type Scalar = keyof ScalarValues;

/** How a list merges: `list` under server-side apply, `patch` under a strategic merge patch; the two differ. */
export interface ListMerge {
  list: 'atomic' | 'set' | 'map';
  /** The fields that identify an item of a `map` list. */
  keys?: readonly string[];
  patch?: { merge?: boolean; key?: string; retainKeys?: boolean };
}

export interface ScalarType<S extends Scalar = Scalar> {
  readonly t: S;
}
export interface ListType<E extends Type = Type> extends ListMerge {
  readonly t: 'list';
  readonly of: E;
}
/** On the wire a list as the value of a map is a message with the list as its field 1, `items`. */
export interface MapType<E extends Type = Type> {
  readonly t: 'map';
  readonly of: E;
  readonly atomic?: boolean;
}
export interface StructType<F extends Fields = Fields> {
  readonly t: 'struct';
  readonly name: string;
  readonly fields: F;
  readonly atomic?: boolean;
  /**
   * The group and version of the struct, `meta/v1`, `core/v1`: needed where several groups use it. Without it a struct
   * belongs to the group and version of the struct that contains it, and in the end of the kind.
   */
  readonly home?: string;
  /**
   * How a strategic merge patch changes it: with `replace` as a whole; with `retainKeys` clients name the fields that stay. By
   * default its fields are merged.
   */
  readonly patch?: 'replace' | 'retainKeys';
}
/** A reference by name to a struct, for recursion; `resolve` returns it. */
export interface RefType {
  readonly t: 'ref';
  readonly name: string;
  resolve(): StructType;
}
export type Type = ScalarType | ListType | MapType | StructType | RefType;

export interface Field<T extends Type = Type, R extends boolean = boolean> {
  /** The field's number in the protobuf message. */
  readonly proto: number;
  /**
   * The number of an embedded message that contains the field on the wire, where JSON has the field itself: the sources
   * of a volume are beside its name in JSON, but in a message of their own, field 2, on the wire. Two numbers where that message
   * is itself in one that JSON does not have, the outer first.
   */
  readonly within?: number | readonly [outer: number, inner: number];
  readonly type: T;
  /** One line for people. */
  readonly doc: string;
  readonly required: R;
  readonly immutable?: boolean;
  /**
   * Whether a zero (empty text, false, 0, no bytes) differs from an absent field: true where the reference's Go type is a
   * pointer to a scalar (`*bool`, `*int64`). A Go client cannot distinguish a zero from an unset field unless it is a
   * pointer, so decoding drops other zeros, in every encoding; a pointer's zero is kept:
   * `leaseTransitions` 0, `automountServiceAccountToken` false, `terminationGracePeriodSeconds` 0. Of no consequence for
   * required fields, which keep a zero in any case (a struct that is required and a pointer is written as null), and for structs, times and quantities, where empty and absent differ.
   */
  readonly pointer?: boolean;
  /**
   * The value that an absent field stands for; it is not filled in. On a key of the items of a list, items that lack it are
   * identified as if they had it: `protocol` TCP; a required key has its zero. On a struct it is always `{}`, set where the
   * reference's Go type is no pointer and the field not required: the struct is present even when nothing in it is set, so
   * a manager that sets a field in it has not added the struct itself (server-side apply).
   */
  readonly default?: FieldDefault;
  /**
   * Whether objects that are stored and sent have the field although it is not set, as null or zero: true where the
   * reference's Go type does not omit it. A struct with the default `{}` is always written without this.
   */
  readonly written?: boolean;
}
export type FieldDefault = string | number | boolean | Readonly<Record<string, never>>;
export type Fields = Readonly<Record<string, Field>>;

type Flat<T> = { [K in keyof T]: T[K] };
type RequiredKeys<F extends Fields> = { [K in keyof F]: F[K] extends Field<Type, true> ? K : never }[keyof F];
type InferFields<F extends Fields> = Flat<
  { [K in RequiredKeys<F>]: Infer<F[K]['type']> } & {
    [K in Exclude<keyof F, RequiredKeys<F>>]?: Infer<F[K]['type']>;
  }
>;

/** The TypeScript type of a description. */
export type Infer<T extends Type> =
  T extends ScalarType<infer S>
    ? ScalarValues[S]
    : T extends ListType<infer E>
      ? Infer<E>[]
      : T extends MapType<infer E>
        ? Record<string, Infer<E>>
        : T extends StructType<infer F>
          ? InferFields<F>
          : unknown;
