import type { FastifyReply } from 'fastify';

const limitCharacters = 4096;
/** Some clients take no more than 100 header lines in all. */
const maxLines = 32;
const shortenedCharacters = 256;

/**
 * `Warning: 299 - "text"` (RFC 9111, 5.5), each once. When they are long each is cut, and what does not fit even
 * then is left out: clients bear only so many headers.
 */
export function addWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const texts = [...new Set(warnings)];
  const isLong = lengthOf(texts) > limitCharacters;
  const shown: string[] = [];
  for (const text of texts) {
    shown.push(isLong ? text.slice(0, shortenedCharacters) : text);
    if (lengthOf(shown) >= limitCharacters) break;
  }
  if (shown.length > 0) reply.header('warning', lines(shown.map(warningValue)));
}

/** One line for each; of very many, the last line has the rest, as a list (RFC 9110, 5.3). */
function lines(values: string[]): string[] {
  if (values.length <= maxLines) return values;
  return [...values.slice(0, maxLines - 1), values.slice(maxLines - 1).join(', ')];
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function warningValue(text: string): string {
  const quoted = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[^\x20-\x7e]/g, '?');
  return `299 - "${quoted}"`;
}
