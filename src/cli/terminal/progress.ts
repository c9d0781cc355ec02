import type { CommandContext } from './context.ts';
import { isTerminal } from './context.ts';
import { formatBytes } from './text.ts';

const redrawMs = 200;
const eraseLine = '\r\u001b[K';

/**
 * Shows on a terminal what is going on and for how long; erases it when disposed of. Does nothing where standard error
 * is not a terminal. A function for `what` is called at each redraw.
 */
export function showProgress(
  { stderr }: Pick<CommandContext, 'stderr'>,
  what: string | (() => string),
): Disposable {
  if (!isTerminal(stderr)) return { [Symbol.dispose]: () => undefined };
  const startedMs = performance.now();
  const draw = () => {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    stderr.write(`${eraseLine}${typeof what === 'string' ? what : what()} … ${seconds} s`);
  };
  draw();
  const timer = setInterval(draw, redrawMs);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      stderr.write(eraseLine);
    },
  };
}

/** Shows it for as long as `work` takes. */
export async function withProgress<T>(
  context: Pick<CommandContext, 'stderr'>,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  using _progress = showProgress(context, what);
  return await work();
}

const barWidth = 20;

/** `[=====               ]  25 % of 512.0 MiB`. */
export function formatProgressBar(done: number, total: number): string {
  const share = total > 0 ? Math.min(done / total, 1) : 1;
  const bar = '='.repeat(Math.floor(share * barWidth)).padEnd(barWidth);
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} % of ${formatBytes(total)}`;
}

/** Shows a progress bar for `total` bytes; `add` reports those that are done. */
export function showByteProgress(
  context: Pick<CommandContext, 'stderr'>,
  what: string,
  total: number,
): Disposable & { add(bytes: number): void } {
  let done = 0;
  const progress = showProgress(context, () => `${what} ${formatProgressBar(done, total)}`);
  return {
    add(bytes) {
      done += bytes;
    },
    [Symbol.dispose]: () => progress[Symbol.dispose](),
  };
}
