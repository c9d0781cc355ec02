import type { Field, ListType, MapType, StructType, Type } from '../schema/index.ts';
import { componentName } from './names.ts';
import { inlineScalar, scalarComponent, zeroOf } from './scalars.ts';
import type { Dialect, Schema } from './schema.ts';

/** The schemas of a document: each struct once, however often and from wherever it is reached. */
export interface Components {
  /** What was added so far, by name. */
  readonly schemas: ReadonlyMap<string, Schema>;
  /**
   * Adds a struct and everything below it; tells its name. A struct lives at `home` unless it says otherwise, and
   * what it holds lives with it.
   */
  add(type: StructType, home: string, more?: Schema): string;
}

export function createComponents(dialect: Dialect): Components {
  const schemas = new Map<string, Schema>();

  function add(type: StructType, inherited: string, more: Schema = {}): string {
    const home = type.home ?? inherited;
    const name = componentName(home, type.name);
    const known = schemas.get(name);
    if (known !== undefined) {
      schemas.set(name, { ...more, ...known });
      return name;
    }
    schemas.set(name, {}); // before its fields, which may lead back to it
    schemas.set(name, { ...more, ...structSchema(type, home) });
    return name;
  }

  function structSchema(type: StructType, home: string): Schema {
    const fields = Object.entries(type.fields);
    const required = fields.filter(([, field]) => field.required).map(([name]) => name);
    const properties = fields.map(([name, field]) => [name, fieldSchema(field, home)] as const);
    return {
      type: 'object',
      ...(fields.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(required.length === 0 ? {} : { required }),
      ...(type.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    };
  }

  function fieldSchema(field: Field, home: string): Schema {
    return schemaOf(field.type, home, { description: field.doc, ...defaultOf(field) });
  }

  /** What the field is taken for when it is left out. */
  function defaultOf(field: Field): Schema {
    if (field.default !== undefined) return dialect.defaults ? { default: field.default } : {};
    return field.required ? zeroValue(field.type) : {};
  }

  function zeroValue(type: Type): Schema {
    if (!dialect.defaults || type.t === 'list' || type.t === 'map') return {};
    const zero = type.t === 'struct' || type.t === 'ref' ? {} : zeroOf(type.t);
    return zero === undefined ? {} : { default: zero };
  }

  function schemaOf(type: Type, home: string, beside: Schema): Schema {
    if (type.t === 'list') return listSchema(type, home, beside);
    if (type.t === 'map') return mapSchema(type, home, beside);
    if (type.t === 'struct') return refer(add(type, home), beside);
    if (type.t === 'ref') return refer(add(type.resolve(), home), beside);
    const component = scalarComponent(type.t);
    if (component === undefined) return { ...inlineScalar(type.t), ...beside };
    if (!schemas.has(component.name)) schemas.set(component.name, component.schema(dialect));
    return refer(component.name, beside);
  }

  function listSchema({ of, list, keys, patch = {} }: ListType, home: string, beside: Schema): Schema {
    const strategy = [...(patch.merge ? ['merge'] : []), ...(patch.retainKeys ? ['retainKeys'] : [])];
    return {
      ...beside,
      type: 'array',
      items: schemaOf(of, home, zeroValue(of)),
      'x-kubernetes-list-type': list,
      ...(keys === undefined ? {} : { 'x-kubernetes-list-map-keys': keys }),
      ...(strategy.length === 0 ? {} : { 'x-kubernetes-patch-strategy': strategy.join() }),
      ...(patch.key === undefined ? {} : { 'x-kubernetes-patch-merge-key': patch.key }),
    };
  }

  function mapSchema({ of, atomic }: MapType, home: string, beside: Schema): Schema {
    return {
      ...beside,
      type: 'object',
      additionalProperties: schemaOf(of, home, zeroValue(of)),
      ...(atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    };
  }

  function refer(name: string, beside: Schema): Schema {
    return dialect.refer(`${dialect.prefix}${name}`, beside);
  }

  return { schemas, add };
}
