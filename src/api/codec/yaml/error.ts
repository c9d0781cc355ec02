import { lineAndColumn } from '../../json/index.ts';

/** A body that is no YAML, or more than is accepted of it. Tells line and column where there is a place. */
export class YamlError extends Error {
  override readonly name = 'YamlError';

  constructor(reason: string, place?: { text: string; offset: number }) {
    super(place === undefined ? reason : `${lineAndColumn(place.text, place.offset)}: ${reason}`);
  }
}
