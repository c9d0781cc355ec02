import type { Field, ListType, MapType, StructType, Type } from '../schema/index.ts';
import { componentName } from './names.ts';
import { inlineScalar, scalarComponent, zeroOf } from './scalars.ts';
import type { Dialect, Schema } from './schema.ts';

/** The component schemas of a document: each struct once, however often it is referenced. */
export class Components {
  readonly #dialect: Dialect;
  readonly #schemas = new Map<string, Schema>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** The schemas added so far, by name. */
  get schemas(): ReadonlyMap<string, Schema> {
    return this.#schemas;
  }

  /**
   * Adds a struct and everything below it; returns its name. A struct without a `home` of its own belongs to `inherited`,
   * and so do the structs that it contains.
   */
  add(type: StructType, inherited: string, more: Schema = {}): string {
    const home = type.home ?? inherited;
    const name = componentName(home, type.name);
    const known = this.#schemas.get(name);
    if (known !== undefined) {
      this.#schemas.set(name, { ...more, ...known });
      return name;
    }
    this.#schemas.set(name, {}); // registered before its fields, which may refer back to it
    this.#schemas.set(name, { ...more, ...this.#structSchema(type, home) });
    return name;
  }

  #structSchema(type: StructType, home: string): Schema {
    const fields = Object.entries(type.fields);
    const required = fields.filter(([, field]) => field.required).map(([name]) => name);
    const properties = fields.map(([name, field]) => [name, this.#fieldSchema(field, home)] as const);
    return {
      type: 'object',
      ...(fields.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(required.length === 0 ? {} : { required }),
      ...(type.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    };
  }

  #fieldSchema(field: Field, home: string): Schema {
    return this.#schemaOf(field.type, home, { description: field.doc, ...this.#defaultOf(field) });
  }

  /** The value that an absent field stands for. */
  #defaultOf(field: Field): Schema {
    if (field.default !== undefined) return this.#dialect.defaults ? { default: field.default } : {};
    return field.required ? this.#zeroValue(field.type) : {};
  }

  #zeroValue(type: Type): Schema {
    if (!this.#dialect.defaults || type.t === 'list' || type.t === 'map') return {};
    const zero = type.t === 'struct' || type.t === 'ref' ? {} : zeroOf(type.t);
    return zero === undefined ? {} : { default: zero };
  }

  #schemaOf(type: Type, home: string, beside: Schema): Schema {
    if (type.t === 'list') return this.#listSchema(type, home, beside);
    if (type.t === 'map') return this.#mapSchema(type, home, beside);
    if (type.t === 'struct') {
      const patch = type.patch === undefined ? {} : { 'x-kubernetes-patch-strategy': type.patch };
      return this.#refer(this.add(type, home), { ...beside, ...patch });
    }
    if (type.t === 'ref') return this.#refer(this.add(type.resolve(), home), beside);
    const component = scalarComponent(type.t);
    if (component === undefined) return { ...inlineScalar(type.t), ...beside };
    if (!this.#schemas.has(component.name))
      this.#schemas.set(component.name, component.schema(this.#dialect));
    return this.#refer(component.name, beside);
  }

  #listSchema({ of, list, keys, patch = {} }: ListType, home: string, beside: Schema): Schema {
    const strategy = [...(patch.merge ? ['merge'] : []), ...(patch.retainKeys ? ['retainKeys'] : [])];
    return {
      ...beside,
      type: 'array',
      items: this.#schemaOf(of, home, this.#zeroValue(of)),
      'x-kubernetes-list-type': list,
      ...(keys === undefined ? {} : { 'x-kubernetes-list-map-keys': keys }),
      ...(strategy.length === 0 ? {} : { 'x-kubernetes-patch-strategy': strategy.join() }),
      ...(patch.key === undefined ? {} : { 'x-kubernetes-patch-merge-key': patch.key }),
    };
  }

  #mapSchema({ of, atomic }: MapType, home: string, beside: Schema): Schema {
    return {
      ...beside,
      type: 'object',
      additionalProperties: this.#schemaOf(of, home, this.#zeroValue(of)),
      ...(atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    };
  }

  #refer(name: string, beside: Schema): Schema {
    return this.#dialect.refer(`${this.#dialect.prefix}${name}`, beside);
  }
}
