import { tryParseRecord } from './json.ts';

const colours: Readonly<Record<string, string>> = {
  debug: '\u001b[2m',
  info: '\u001b[36m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
};
const plain = '\u001b[0m';

/**
 * Turns one JSON log line into a line for people: `10:15:02.123 INFO  [lease] renewed node=a`.
 * A line that is no JSON object is passed through as it is.
 */
export function formatLogLine(json: string, colour: boolean): string {
  const record = tryParseRecord(json);
  if (record === undefined) return json;
  const { level, time, msg, part, err, ...fields } = record;
  const label = String(level).toUpperCase().padEnd(5);
  const shown = colour ? `${colours[String(level)] ?? ''}${label}${plain}` : label;
  const where = part === undefined ? '' : `[${harmless(String(part))}] `;
  const rest = Object.entries(fields).map(([key, value]) => ` ${harmless(key)}=${show(value)}`);
  return `${String(time).slice(11, 23)} ${shown} ${where}${harmless(String(msg ?? ''))}${rest.join('')}${failure(err)}\n`;
}

function show(value: unknown): string {
  if (typeof value !== 'string') return harmless(JSON.stringify(value));
  return /^[\w./:@+-]+$/.test(value) ? value : harmless(JSON.stringify(value));
}

function failure(err: unknown): string {
  if (typeof err !== 'object' || err === null) return err === undefined ? '' : ` err=${show(err)}`;
  return 'stack' in err ? `\n    ${harmless(String(err.stack))}` : ` err=${show(err)}`;
}

/**
 * Text from outside must not look like a line of its own nor speak to the terminal: lines after the first are
 * indented, other control characters are escaped.
 */
function harmless(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => {
    if (character === '\n') return '\n    ';
    return character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
