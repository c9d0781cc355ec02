import type { PolicyRule } from '../../../api/index.ts';
import { CompiledRules } from './compiled-rules.ts';

/** The role that a binding refers to; `namespace` is empty for a ClusterRole. */
export interface RoleId {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Reads roles in the state of the last change that was passed to the index. */
export interface RoleReader {
  has(role: RoleId): boolean;
  /** Its rules; undefined when there is no such role. */
  read(role: RoleId): readonly PolicyRule[] | undefined;
}

const noRules = new CompiledRules([]);

/** A role that some binding refers to, whether it exists or not. Its rules are read when they are first needed. */
export class RoleEntry implements RoleId {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly #reader: RoleReader;
  #exists: boolean;
  #compiled: CompiledRules | undefined;
  /** The number of grants of this role. */
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

  /** Has to be called when it was created, changed or deleted. */
  changed(exists: boolean): void {
    this.#exists = exists;
    this.#compiled = undefined;
  }

  #read(): CompiledRules {
    const rules = this.#exists ? this.#reader.read(this) : undefined;
    return rules === undefined ? noRules : new CompiledRules(rules);
  }
}

/** Whether a binding in a namespace can refer to a role of this kind; `namespace` is empty for a ClusterRoleBinding. */
export function isRoleKind(kind: string, namespace: string): boolean {
  return kind === 'ClusterRole' || (kind === 'Role' && namespace !== '');
}
