import { stat } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { describeError } from './errors.ts';
import type { Service } from './lifecycle/index.ts';

export interface FileFollowerOptions {
  /** Of the service. */
  readonly name: string;
  readonly dependsOn?: readonly string[];
  readonly intervalMs: number;
  /** Takes what the files say now; rejects when that cannot be used. */
  reread(): Promise<void>;
  /**
   * The files; where this is given, they are read again only once after the start (they may have changed since they were
   * read first), after one of them has changed, and while they cannot be used.
   */
  files?(): readonly string[];
  /** Called with what is wrong with the files: once, until they can be used again or something else is wrong. */
  onProblem(problem: string): void;
  readonly clock: Clock;
}

/** A service that rereads files periodically, so that changes to them need no signal to this process. */
export function createFileFollower(options: FileFollowerOptions): Service {
  const { name, dependsOn = [], intervalMs, clock } = options;
  let logged = '';

  /** Returns whether the current content of the files is in use. */
  async function reread(): Promise<boolean> {
    try {
      await options.reread();
      logged = '';
      return true;
    } catch (error) {
      const problem = describeError(error);
      if (problem !== logged) options.onProblem(problem);
      logged = problem;
      return false;
    }
  }

  return {
    name,
    dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      let usedState: string | undefined;
      let isFirst = options.files !== undefined; // the files may have changed since they were read first
      while (!signal.aborted) {
        if (!isFirst) await clock.sleep(intervalMs, signal);
        if (signal.aborted) return;
        isFirst = false;
        const state = await readState(options.files?.()); // before reading: what changes meanwhile is not missed
        if (state === undefined || state !== usedState) usedState = (await reread()) ? state : undefined;
      }
    },
  };
}

/** A text that changes when one of the files changes or is replaced. */
async function readState(paths: readonly string[] | undefined): Promise<string | undefined> {
  if (paths === undefined) return undefined;
  const states = await Promise.all(
    paths.map(async (path) => {
      const facts = await stat(path, { bigint: true }).catch(() => undefined);
      return `${path} ${facts?.ino} ${facts?.size} ${facts?.mtimeNs}`;
    }),
  );
  return states.join('\n');
}
