const everyMs = 200;
const eraseLine = '\r\u001b[K';

/** Shows on a terminal that something is under way, and for how long; takes itself away when disposed of. */
export function showProgress(terminal: NodeJS.WritableStream, what: string): Disposable {
  const startedMs = performance.now();
  const draw = () => {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    terminal.write(`${eraseLine}${what} … ${seconds} s`);
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
