import type { StructType, Type } from '../../api/schema/index.ts';
import { field as schemaField, struct } from '../../api/schema/index.ts';
import type { Entry, Located } from './located.ts';
import { defaultOrigin, locate } from './located.ts';

/*
 * A field of the configuration, described once. All of the following is made from this one description: the schema that
 * files are decoded by, the default, the check of the range, whether a reload applies it, where `config view --origin`
 * says it comes from, its part of the effective configuration (and the TypeScript type of that), its lines in
 * etc/config.yaml and its row in docs/configuration.md.
 */

/** What is declared of a field. */
export interface FieldDescription {
  /** One or two sentences, in Markdown: `code`, and links to other pages of docs/. */
  readonly doc: string;
  /** As a file would state it. Without one an absent field reads as false, empty text, an empty list or map. */
  readonly default?: Json;
  /** The default of an agent without a control plane, where that is another. */
  readonly standaloneDefault?: Json;
  /** The field whose value is the default, where a file states that field. */
  readonly follows?: string;
  /** Where a file states that field, this one has no default. */
  readonly noDefaultBeside?: string;
  /** A map that is stated replaces its default as a whole, unless this field is true. */
  readonly mergesDefaultIf?: string;
  /** For people, where the default is not a value that a file could state. */
  readonly defaultInWords?: string;
  /** A value for the sample file, as YAML, where the default says too little. */
  readonly example?: string;
  /** Zero and empty text are values of their own. Of other fields they mean the default, as in the reference. */
  readonly keepsZero?: boolean;
  /** Read once, when the agent starts. The other fields count as soon as they are loaded again. */
  readonly needsRestart?: boolean;
  /** Its values may be credentials: they are never printed. */
  readonly isSecret?: boolean;
  /** It can be set by the flag of its name: `--container-runtime-endpoint` for containerRuntimeEndpoint. */
  readonly flag?: boolean;
  /** Keys of a map that change nothing, with the reason. */
  readonly inertKeys?: Readonly<Record<string, string>>;
  /** What values of the type are allowed, in words for the documentation. */
  readonly range?: string;
  /** Undefined, or what is wrong with a value of the right type. */
  check?(value: unknown): string | undefined;
  /** For each entry of a map: what is wrong with its key. */
  checkKey?(key: string, value: unknown): string | undefined;
  /** For each entry of a map whose key is good: what is wrong with its value. */
  checkEntry?(value: unknown): string | undefined;
  /** What a person should know of a value that is allowed. */
  warning?(value: unknown): string | undefined;
}

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

export interface Field<V = unknown, Name extends string | undefined = string | undefined>
  extends FieldDescription {
  readonly schema: Type;
  /** The name in the effective configuration, where it is not that of the field. */
  readonly settingName: Name;
  /** The fields of a section. */
  readonly fields?: Fields;
  /** The value in the effective configuration; of undefined, the default. */
  read(stated: Located | undefined): V;
}

export type Fields = Readonly<Record<string, Field>>;

/** What fields come to: each by its name in the effective configuration. */
export type Settings<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Field<unknown, infer N extends string> ? N : K]: ReturnType<
    F[K]['read']
  >;
};

/** `read` gets undefined for a field that is absent and has no default. */
export function defineField<V, Name extends string | undefined>(
  settingName: Name,
  schema: Type,
  read: (stated: Located | undefined) => V,
  description: FieldDescription,
): Field<V, Name> {
  const { default: value } = description;
  const absent = value === undefined ? undefined : locate(value, defaultOrigin);
  return { ...description, schema, settingName, read: (stated) => read(stated ?? absent) };
}

/** A structure: each of its fields has its own default, check and place in the documentation. */
export function section<const F extends Fields>({
  fields,
  ...description
}: FieldDescription & { readonly fields: F }): Field<Settings<F>, undefined> & { readonly fields: F } {
  const read = (stated: Located | undefined) => readFields(fields, stated);
  return { ...defineField(undefined, schemaOf(fields), read, description), fields };
}

type Described = Readonly<Record<string, { readonly schema: Type; readonly doc?: string }>>;

/** The fields have no protobuf form: their numbers only count them, and no name of a structure is printed. */
export function schemaOf(fields: Described): StructType {
  const entries = Object.entries(fields).map(
    ([key, { schema, doc = '' }], index) => [key, schemaField(index + 1, schema, doc)] as const,
  );
  return struct('', Object.fromEntries(entries));
}

/** The settings of merged and validated values; frozen. */
export function readFields<F extends Fields>(fields: F, stated: Located | undefined): Settings<F> {
  const entries = stated?.type === 'map' ? stated.entries : new Map<string, Entry>();
  const values = Object.entries(fields).map(([name, field]): [string, unknown] => [
    field.settingName ?? name,
    field.read(entries.get(name)?.value),
  ]);
  const settings = Object.freeze(Object.fromEntries(values));
  if (!hasSettings(fields, settings)) throw new TypeError('two fields have one name in the configuration');
  return settings;
}

function hasSettings<F extends Fields>(fields: F, settings: object): settings is Settings<F> {
  return Object.keys(settings).length === Object.keys(fields).length;
}
