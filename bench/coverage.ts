import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector';

/** What ran between `start` and `take`. */
export interface Way {
  /** By path. */
  files: readonly { path: string; calls: readonly string[] }[];
  functions: number;
  calls: number;
}

/** Counts the calls of every function of this thread whose file is below `root`, a URL that ends with a slash. */
export class Coverage implements Disposable {
  readonly #session = new Session();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** What was called until now does not count. */
  start(): void {
    this.#read();
  }

  take(): Way {
    const files = this.#read().flatMap(({ url, functions }) => {
      const called = functions.filter((each) => countOf(each) > 0);
      if (!url.startsWith(this.#root) || called.length === 0) return [];
      const calls = called.map((each) => `${each.functionName || '=>'}×${countOf(each)}`);
      const total = called.reduce((sum, each) => sum + countOf(each), 0);
      return [{ path: url.slice(this.#root.length), calls, total }];
    });
    files.sort((one, other) => (one.path < other.path ? -1 : 1));
    return {
      files,
      functions: files.reduce((sum, { calls }) => sum + calls.length, 0),
      calls: files.reduce((sum, { total }) => sum + total, 0),
    };
  }

  [Symbol.dispose](): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** In the same thread the answer comes within the call. Taking it sets the counts back. */
  #read(): Profiler.ScriptCoverage[] {
    const taken: Profiler.ScriptCoverage[] = [];
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      taken.push(...result);
    });
    return taken;
  }
}

function countOf({ ranges }: Profiler.FunctionCoverage): number {
  return ranges[0]?.count ?? 0;
}
