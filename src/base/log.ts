import { Writable } from 'node:stream';
import type { DestinationStream } from 'pino';
import { pino } from 'pino';
import { formatJournalLine, formatLogLine, priorityOf, withPriority } from './log-text.ts';

type LogMethod = {
  (message: string): void;
  (fields: object, message: string): void;
};

/** Structured log: fields first, message second. Secrets never go into either. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  /** The same log with `fields` on every line. */
  child(fields: Record<string, unknown>): Logger;
}

export type LogFormat = 'json' | 'text';
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  /** One JSON object a line, or text for people. */
  format: LogFormat;
  level: LogLevel;
  /** Where lines go. */
  output: NodeJS.WritableStream;
  /** Colours in text lines; default false. */
  colour?: boolean;
  /** The lines go to systemd's journal, which has the time itself: each gets its priority, `<4>`; default false. */
  journal?: boolean;
}

const secretNames = ['authorization', 'Authorization', 'cookie', 'password', 'privateKey', 'secret', 'token'];

/** A second safeguard: fields of these names are redacted, at the top level and up to two levels below. */
const secretPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Lines are written at once; none is lost when the process ends by itself. */
export function createLogger(options: LogOptions): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: secretPaths,
    },
    destination(options),
  );
}

function destination(options: LogOptions): DestinationStream {
  const { format, output, colour = false, journal = false } = options;
  const toLine = (json: string) => {
    if (format === 'json') return json;
    return journal ? formatJournalLine(json) : formatLogLine(json, colour);
  };
  if (!journal) return { write: (json) => void output.write(toLine(json)) };
  return { write: (json) => void output.write(withPriority(toLine(json), priorityOf(json))) };
}

/** A log that discards everything. */
export function silentLogger(): Logger {
  return createLogger({
    format: 'json',
    level: 'silent',
    output: new Writable({ write: (_c, _e, done) => done() }),
  });
}
