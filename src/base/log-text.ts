import { tryParseRecord } from './json.ts';

const colours: Readonly<Record<string, string>> = {
  debug: '\u001b[2m',
  info: '\u001b[36m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
};
const plain = '\u001b[0m';

/**
 * Formats one JSON log line for people: `10:15:02.123 INFO  [lease] renewed node=a`. A line that is no JSON object is
 * returned as it is.
 */
export function formatLogLine(json: string, colour: boolean): string {
  const record = tryParseRecord(json);
  if (record === undefined) return json;
  const { level, time, msg, part, err, ...fields } = record;
  const label = String(level).toUpperCase().padEnd(5);
  const coloured = colour ? `${colours[String(level)] ?? ''}${label}${plain}` : label;
  const where = part === undefined ? '' : `[${escapeControls(String(part))}] `;
  const rest = Object.entries(fields).map(([key, value]) => ` ${escapeControls(key)}=${formatValue(value)}`);
  return `${String(time).slice(11, 23)} ${coloured} ${where}${escapeControls(String(msg ?? ''))}${rest.join('')}${formatError(err)}\n`;
}

function formatValue(value: unknown): string {
  if (typeof value !== 'string') return escapeControls(JSON.stringify(value));
  return /^[\w./:@+-]+$/.test(value) ? value : escapeControls(JSON.stringify(value));
}

function formatError(err: unknown): string {
  if (typeof err !== 'object' || err === null) return err === undefined ? '' : ` err=${formatValue(err)}`;
  return 'stack' in err ? `\n    ${escapeControls(String(err.stack))}` : ` err=${formatValue(err)}`;
}

/**
 * Text from outside must neither look like a log line nor control the terminal: lines after the first are indented, other
 * control characters are escaped.
 */
function escapeControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => {
    if (character === '\n') return '\n    ';
    return character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
