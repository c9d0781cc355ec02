import { tryParseRecord } from './json.ts';

const colours: Readonly<Record<string, string>> = {
  debug: '\u001b[2m',
  info: '\u001b[36m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
};
const plain = '\u001b[0m';

/** syslog(3) */
const priorities: Readonly<Record<string, number>> = { debug: 7, info: 6, warn: 4, error: 3 };

/**
 * Formats one JSON log line for people: `10:15:02.123 INFO  [lease] renewed node=a`. Fields that are empty are left out. A
 * line that is no JSON object is returned as it is.
 */
export function formatLogLine(json: string, colour: boolean): string {
  const record = tryParseRecord(json);
  if (record === undefined) return json;
  const { level, time } = record;
  const label = String(level).toUpperCase().padEnd(5);
  const coloured = colour ? `${colours[String(level)] ?? ''}${label}${plain}` : label;
  return `${String(time).slice(11, 23)} ${coloured} ${formatRecord(record)}\n`;
}

/** The same without time and level, which the journal has itself. */
export function formatJournalLine(json: string): string {
  const record = tryParseRecord(json);
  return record === undefined ? json : `${formatRecord(record)}\n`;
}

/** Of a JSON log line. */
export function priorityOf(json: string): number {
  const level = /^\{"level":"(\w+)"/.exec(json)?.[1] ?? '';
  return priorities[level] ?? 6;
}

/** Puts the priority before each line, as the journal takes each for an entry (sd-daemon(3)). */
export function withPriority(text: string, priority: number): string {
  return text.replaceAll(/^(?=.)/gm, `<${priority}>`);
}

function formatRecord({
  level: _level,
  time: _time,
  msg,
  part,
  err,
  ...fields
}: Record<string, unknown>): string {
  const where = part === undefined ? '' : `[${escapeControls(String(part))}] `;
  const stated = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  const rest = stated.map(([key, value]) => ` ${escapeControls(key)}=${formatValue(value)}`);
  return `${where}${escapeControls(String(msg ?? ''))}${rest.join('')}${formatError(err)}`;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
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
