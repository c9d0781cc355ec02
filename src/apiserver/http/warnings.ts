import type { FastifyReply } from 'fastify';

const limitCharacters = 4096;
const shortenedCharacters = 256;

/**
 * `Warning: 299 - "text"` (RFC 9111, 5.5), each once. When they are long each is cut, and what does not fit even
 * then is left out: clients bear only so many headers.
 */
export function addWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  const texts = [...new Set(warnings)];
  const isLong = lengthOf(texts) > limitCharacters;
  const shown: string[] = [];
  for (const text of texts) {
    shown.push(isLong ? text.slice(0, shortenedCharacters) : text);
    if (lengthOf(shown) >= limitCharacters) break;
  }
  if (shown.length > 0) reply.header('warning', shown.map(warningValue));
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
