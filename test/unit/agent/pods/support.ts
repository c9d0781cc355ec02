import { Writable } from 'node:stream';
import type { PodMetrics } from '../../../../src/agent/pods/index.ts';
import { podMetrics } from '../../../../src/agent/pods/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import type { Logger } from '../../../../src/base/index.ts';
import { createLogger, createMetrics } from '../../../../src/base/index.ts';

/** The text of a manifest; `more` is put below its only container. */
export function manifest(name: string, image = 'app:1', more = ''): string {
  const head = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`;
  return `${head}spec:\n  containers:\n    - name: main\n      image: ${image}\n${more}`;
}

export function memoryLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLogger({ format: 'text', level: 'debug', output }), lines };
}

export const metrics = (): PodMetrics => podMetrics(createMetrics());

export const namesOf = (pods: readonly Pod[]): (string | undefined)[] =>
  pods.map(({ metadata }) => metadata?.name);
