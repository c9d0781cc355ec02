import type { SQLOutputValue } from 'node:sqlite';

/** A column that the tables say is an integer; throws on anything else, as from a damaged file. */
export function integer(value: SQLOutputValue | undefined): number {
  if (typeof value === 'number') return value;
  throw new TypeError(`a row of the store has a ${typeof value} where an integer belongs`);
}

export function text(value: SQLOutputValue | undefined): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`a row of the store has a ${typeof value} where a text belongs`);
}

export function blob(value: SQLOutputValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a row of the store has a ${typeof value} where bytes belong`);
}
