import { writeSync } from 'node:fs';
import { errorCode } from '../../../src/base/index.ts';

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes a line to standard output before anything else happens: a process that is to be killed must have told what it
 * says it has told. Waits while the pipe is full, which then does not block but refuses.
 */
export function tell(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}
