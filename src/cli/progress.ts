import { shownBytes } from './storage/report.ts';

const everyMs = 200;
const eraseLine = '\r\u001b[K';

/**
 * Shows on a terminal that something is under way, and for how long; takes itself away when disposed of. `what` may
 * change meanwhile.
 */
export function showProgress(terminal: NodeJS.WritableStream, what: string | (() => string)): Disposable {
  const startedMs = performance.now();
  const draw = () => {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    terminal.write(`${eraseLine}${typeof what === 'string' ? what : what()} … ${seconds} s`);
  };
  draw();
  const timer = setInterval(draw, everyMs);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      terminal.write(eraseLine);
    },
  };
}

const barWidth = 20;

/** How far something is: `[=====     ]  25 % of 512.0 MiB`. */
export function progressBar(done: number, total: number): string {
  const share = total > 0 ? Math.min(done / total, 1) : 1;
  const bar = '='.repeat(Math.floor(share * barWidth)).padEnd(barWidth);
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} % of ${shownBytes(total)}`;
}

/** Shows how much of `total` bytes is done; whoever works tells it by `add`. */
export function showBytes(
  terminal: NodeJS.WritableStream,
  what: string,
  total: number,
): Disposable & { add(bytes: number): void } {
  let done = 0;
  const shown = showProgress(terminal, () => `${what} ${progressBar(done, total)}`);
  return {
    add(bytes) {
      done += bytes;
    },
    [Symbol.dispose]: () => shown[Symbol.dispose](),
  };
}
