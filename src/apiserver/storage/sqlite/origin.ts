import type { DatabaseSync } from 'node:sqlite';
import { integer, text } from './row.ts';

/** How a store was created. `missing`: for a control plane that had served before, so its objects are lost. */
export interface StoreOrigin {
  readonly how: 'new' | 'missing' | 'restored';
  /** Wall clock, milliseconds. */
  readonly atMs: number;
}

/** In the database itself, so that it moves with it. Older programs ignore it. */
const table = `
CREATE TABLE origin (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  how TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT`;

export function writeOrigin(database: DatabaseSync, { how, atMs }: StoreOrigin): void {
  database.exec(table);
  database.prepare('INSERT INTO origin (id, how, at_ms) VALUES (1, ?, ?)').run(how, atMs);
}

/** Undefined for a store that an older program created. */
export function readOrigin(database: DatabaseSync): StoreOrigin | undefined {
  const known = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'origin'").get();
  const row = known && database.prepare('SELECT how, at_ms FROM origin').get();
  const how = row && ways.find((way) => way === text(row['how']));
  return how === undefined ? undefined : { how, atMs: integer(row?.['at_ms']) };
}

const ways: readonly StoreOrigin['how'][] = ['new', 'missing', 'restored'];
