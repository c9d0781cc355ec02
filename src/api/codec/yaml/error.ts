/** A body that is no YAML, or more than is accepted of it. Tells line and column where there is a place. */
export class YamlError extends Error {
  override readonly name = 'YamlError';

  constructor(reason: string, place?: { text: string; offset: number }) {
    super(place === undefined ? reason : `${lineAndColumn(place.text, place.offset)}: ${reason}`);
  }
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}
