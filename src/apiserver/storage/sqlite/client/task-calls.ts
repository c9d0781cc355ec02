import { StorageError } from '../../types.ts';
import type { Reports, TaskName } from '../maintenance.ts';
import type { ToWriter } from '../messages.ts';

/** Tasks that the writer thread was asked for, and who waits for their reports. */
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

const marks = { stats: 'prefixes', check: 'problems', defrag: 'afterBytes' } as const;

function isOf<N extends TaskName>(task: N, report: Reports[TaskName]): report is Reports[N] {
  return marks[task] in report;
}
