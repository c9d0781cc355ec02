import { StorageError } from '../../types.ts';
import type { Reports, TaskName } from '../maintenance.ts';
import type { ToWriter } from '../messages.ts';

/** The tasks requested of the writer thread, with the callers that wait for their reports. */
export class TaskCalls {
  readonly #send: (message: ToWriter) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<Reports[TaskName]>>();
  #lastId = 0;

  constructor(send: (message: ToWriter) => void) {
    this.#send = send;
  }

  async run<N extends TaskName>(task: N): Promise<Reports[N]> {
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<Reports[TaskName]>();
    this.#waiting.set(id, waiting);
    this.#send({ type: 'task', id, task });
    const report = await waiting.promise;
    if (isOf(task, report)) return report;
    throw new StorageError('unavailable', `the writer thread answered ${task} with another report`);
  }

  settle(id: number, report: Reports[TaskName]): void {
    this.#waiting.get(id)?.resolve(report);
    this.#waiting.delete(id);
  }

  fail(id: number, error: Error): void {
    this.#waiting.get(id)?.reject(error);
    this.#waiting.delete(id);
  }

  failAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.fail(id, error);
  }
}

/** A field that only the report of that task has. */
const distinctFields = { stats: 'prefixes', check: 'problems', defrag: 'afterBytes' } as const;

function isOf<N extends TaskName>(task: N, report: Reports[TaskName]): report is Reports[N] {
  return distinctFields[task] in report;
}
