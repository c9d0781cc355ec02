import type { StorageErrorCode } from '../../types.ts';
import type { Reports, TaskName } from '../maintenance.ts';
import type { FromWriter } from '../messages.ts';
import type { Database } from '../writer/database.ts';
import { describeSqlite, isDamage } from '../writer/errors.ts';
import type { Room } from '../writer/room.ts';
import type { WriterState } from '../writer/writer-state.ts';
import { checkTask } from './task-check.ts';
import { defragTask } from './task-defrag.ts';
import { statsTask } from './task-stats.ts';

type Steps = Generator<undefined, Reports[TaskName]>;

interface Running {
  readonly id: number;
  readonly steps: Steps;
  /** After the store was opened again there is another connection, with which the steps cannot continue. */
  readonly database: Database;
}

/** Tasks that run beside reads and writes: one task at a time, in the order of the requests, one step per call. */
export class Tasks {
  readonly #post: (message: FromWriter) => void;
  readonly #waiting: { id: number; task: TaskName }[] = [];
  #running: Running | undefined;

  constructor(post: (message: FromWriter) => void) {
    this.#post = post;
  }

  add(id: number, task: TaskName): void {
    this.#waiting.push({ id, task });
  }

  /** Does one step; `worked` is false when there is none. Returns the error of the step, if it failed. */
  step(database: Database, state: WriterState, room: Room): { worked: boolean; error?: unknown } {
    const running = this.#next(database, state, room);
    if (running === undefined) return { worked: false };
    try {
      if (running.database !== database) throw new Error('the store was opened again meanwhile');
      const { done, value } = running.steps.next();
      if (!done) return { worked: true };
      this.#running = undefined;
      this.#post({ type: 'taskDone', id: running.id, report: value });
      return { worked: true };
    } catch (error) {
      this.#running = undefined;
      this.#fail(running.id, isDamage(error) ? 'corrupt' : 'unavailable', describeSqlite(error));
      return { worked: true, error };
    }
  }

  failAll(why: string): void {
    const running = this.#running === undefined ? [] : [this.#running];
    this.#running = undefined;
    for (const { id } of [...running, ...this.#waiting.splice(0)]) this.#fail(id, 'unavailable', why);
  }

  #next(database: Database, state: WriterState, room: Room): Running | undefined {
    if (this.#running !== undefined) return this.#running;
    const next = this.#waiting.shift();
    if (next === undefined) return undefined;
    const steps = stepsOf(next.task, database, state, room);
    this.#running = { id: next.id, steps, database };
    return this.#running;
  }

  #fail(id: number, code: StorageErrorCode, message: string): void {
    this.#post({ type: 'taskFailed', id, code, message });
  }
}

function stepsOf(task: TaskName, database: Database, state: WriterState, room: Room): Steps {
  switch (task) {
    case 'stats':
      return statsTask(database, state, room.reserveBytes);
    case 'check':
      return checkTask(database, state);
    case 'defrag':
      return defragTask(database);
  }
}
