import type { FastifyReply } from 'fastify';

const limitCharacters = 4096;
/** Some clients accept no more than 100 header lines in all. */
const maxLines = 32;
const shortenedCharacters = 256;

/**
 * Sets `Warning: 299 - "text"` headers (RFC 9111, 5.5), each text once. When they are long in total each is shortened, and
 * those beyond the limit are left out: clients limit the size of headers.
 */
export function addWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const texts = [...new Set(warnings)];
  const isLong = lengthOf(texts) > limitCharacters;
  const sent: string[] = [];
  for (const text of texts) {
    sent.push(isLong ? text.slice(0, shortenedCharacters) : text);
    if (lengthOf(sent) >= limitCharacters) break;
  }
  if (sent.length > 0) reply.header('warning', foldLines(sent.map(formatWarning)));
}

/** A line for each; beyond the limit, the last line has the rest as a list (RFC 9110, 5.3). */
function foldLines(values: string[]): string[] {
  if (values.length <= maxLines) return values;
  return [...values.slice(0, maxLines - 1), values.slice(maxLines - 1).join(', ')];
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function formatWarning(text: string): string {
  const quoted = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[^\x20-\x7e]/g, '?');
  return `299 - "${quoted}"`;
}
