import type { PolicyRule } from '../../../api/index.ts';
import { CompiledRules } from './compiled-rules.ts';

/** Which role a binding means; `namespace` is empty for a ClusterRole. */
export interface RoleId {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Where roles are found. It always answers for the newest state that the index was told of. */
export interface RoleReader {
  has(role: RoleId): boolean;
  /** Its rules; undefined when there is no such role. */
  read(role: RoleId): readonly PolicyRule[] | undefined;
}

const noRules = new CompiledRules([]);

/** A role that some binding gives, whether it is there or not. Its rules are read when they are first needed. */
export class RoleEntry implements RoleId {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly #reader: RoleReader;
  #exists: boolean;
  #compiled: CompiledRules | undefined;
  /** How many grants give it. */
  uses = 0;

  constructor({ kind, namespace, name }: RoleId, reader: RoleReader) {
    this.kind = kind;
    this.namespace = namespace;
    this.name = name;
    this.#reader = reader;
    this.#exists = reader.has(this);
  }

  get exists(): boolean {
    return this.#exists;
  }

  get rules(): CompiledRules {
    this.#compiled ??= this.#read();
    return this.#compiled;
  }

  /** Its rules are others now, or it was made or deleted. */
  changed(exists: boolean): void {
    this.#exists = exists;
    this.#compiled = undefined;
  }

  #read(): CompiledRules {
    const rules = this.#exists ? this.#reader.read(this) : undefined;
    return rules === undefined ? noRules : new CompiledRules(rules);
  }
}

/** Whether a binding in a namespace can give such a role; `namespace` is empty for a ClusterRoleBinding. */
export function isRoleKind(kind: string, namespace: string): boolean {
  return kind === 'ClusterRole' || (kind === 'Role' && namespace !== '');
}
