import type { ListHead } from '../../../api/index.ts';

const width = 2;

/** A value as JSON, indented for people or not. */
export function renderJson(value: object, pretty: boolean): Buffer {
  return Buffer.from(pretty ? `${JSON.stringify(value, undefined, width)}\n` : JSON.stringify(value));
}

/** An object as an item of `renderIndentedList`: indented by two levels. */
export function renderIndentedItem(value: object): string {
  return JSON.stringify(value, undefined, width).replaceAll('\n', '\n    ');
}

/** A list as indented JSON, joined from its items. */
export function renderIndentedList(
  { kind, apiVersion, metadata }: ListHead,
  items: readonly string[],
): Buffer {
  const head = JSON.stringify({ kind, apiVersion, metadata }, undefined, width).slice(0, -'\n}'.length);
  const listed = items.length === 0 ? '[]' : `[\n    ${items.join(',\n    ')}\n  ]`;
  return Buffer.from(`${head},\n  "items": ${listed}\n}\n`);
}
