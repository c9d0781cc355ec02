import { Writable } from 'node:stream';
import type { LogFormat, Logger, LogLevel } from '../../../src/base/index.ts';
import { createLogger } from '../../../src/base/index.ts';

export interface RecordedLog {
  log: Logger;
  /** All that was written. */
  text(): string;
}

/** A log whose lines a test can read. */
export function recordedLog(
  format: LogFormat = 'json',
  level: LogLevel = 'debug',
  colour = false,
  journal = false,
): RecordedLog {
  let written = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  return { log: createLogger({ format, level, output, colour, journal }), text: () => written };
}
