/** How an archive can be packed on its way. */
export type ContentCoding = 'gzip' | 'zstd';

/** Preferred first, where a client likes both the same. */
const codings: readonly ContentCoding[] = ['zstd', 'gzip'];

/**
 * What a client has asked for by Accept-Encoding (RFC 9110, section 12.5.3); undefined where it names none of them, or
 * likes the content as it is better. `*` asks for nothing in particular.
 */
export function chooseCoding(header: string | undefined): ContentCoding | undefined {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',').slice(0, 20)) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    weights.set(name, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0);
  }
  const weigh = (coding: ContentCoding) => weights.get(coding) ?? 0;
  const best = codings.toSorted((a, b) => weigh(b) - weigh(a))[0];
  if (best === undefined || weigh(best) === 0) return undefined;
  return (weights.get('identity') ?? 0) > weigh(best) ? undefined : best;
}
