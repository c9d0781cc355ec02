import { formatLineAndColumn } from '../../json/index.ts';

/** A body that is not valid YAML, or uses a feature or size that is not accepted. Has line and column where known. */
export class YamlError extends Error {
  override readonly name = 'YamlError';

  constructor(reason: string, place?: { text: string; offset: number }) {
    super(place === undefined ? reason : `${formatLineAndColumn(place.text, place.offset)}: ${reason}`);
  }
}
