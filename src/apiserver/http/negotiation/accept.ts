import { StatusError } from '../../../api/index.ts';

/** One entry of an Accept header (RFC 9110, 12.5.1). */
export interface MediaRange {
  /** In lower case; an asterisk stands for any. */
  type: string;
  parameters: ReadonlyMap<string, string>;
  /** 0 to 1. */
  quality: number;
}

const maxRanges = 32;

/** Parses an Accept header; without one, everything is accepted. */
export function parseAccept(accept: string | undefined): MediaRange[] {
  const text = accept === undefined || accept.trim() === '' ? '*/*' : accept;
  return text.split(',', maxRanges).map(parseRange);
}

/** The media ranges that a client accepts, the best first; without a header, everything. */
export function listAcceptedRanges(accept: string | undefined): MediaRange[] {
  return parseAccept(accept)
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality);
}

/** Returns the first offer for the ranges that a client accepts, best first; throws 406 with the served types. */
export function chooseOffer<T>(
  accept: string | undefined,
  offer: (range: MediaRange) => T | undefined,
  served: readonly string[],
): T {
  for (const range of listAcceptedRanges(accept)) {
    const found = offer(range);
    if (found !== undefined) return found;
  }
  throw new StatusError(
    'NotAcceptable',
    `only the following media types are served here: ${served.join(', ')}`,
  );
}

/** Whether a media type is within a range, without regard to parameters. */
export function covers({ type }: MediaRange, mediaType: string): boolean {
  return type === '*/*' || type === mediaType || type === `${mediaType.split('/', 1)[0]}/*`;
}

function parseRange(text: string): MediaRange {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(rest.map(parseParameter));
  const quality = Number(parameters.get('q') ?? 1);
  const bounded = Number.isNaN(quality) ? 1 : Math.min(1, Math.max(0, quality));
  return { type: type.toLowerCase(), parameters, quality: bounded };
}

function parseParameter(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 0) return [text.toLowerCase(), ''];
  const value = text.slice(at + 1).trim();
  return [text.slice(0, at).trim().toLowerCase(), value.replace(/^"(.*)"$/, '$1')];
}
