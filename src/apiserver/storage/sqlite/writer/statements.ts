import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { integer } from '../row.ts';

/** Prepared statements on one connection, each prepared once. Any method throws node:sqlite's errors. */
export class Statements implements Disposable {
  readonly #connection: DatabaseSync;
  readonly #known = new Map<string, StatementSync>();

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  sql(source: string): StatementSync {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(source);
    this.#known.set(source, statement);
    return statement;
  }

  /** The number that a pragma returns. */
  pragma(name: string): number {
    return integer(Object.values(this.sql(`PRAGMA ${name}`).get() ?? {})[0]);
  }

  /** Runs `work` in one transaction, durable when this returns. On an error nothing of it remains. */
  transaction<T>(work: () => T): T {
    this.sql('BEGIN').run();
    try {
      const result = work();
      this.sql('COMMIT').run();
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.sql('ROLLBACK').run();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    if (this.#connection.isOpen) this.#connection.close();
  }
}
