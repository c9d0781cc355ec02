import { ReadStream, WriteStream } from 'node:tty';
import type { Paint } from '../terminal/colour.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { Size } from './frame.ts';
import type { Key } from './keys.ts';
import { KeyReader } from './keys.ts';
import type { Line } from './line.ts';
import { paintLine } from './line.ts';

/** What a live view is drawn on. */
export interface Screen {
  readonly size: Size;
  /** Draws all rows; a row without a line becomes empty. */
  draw(lines: readonly Line[]): void;
}

export interface ScreenListener {
  onKey(key: Key): void;
  onResize(): void;
  /** Nothing can be read from the terminal any more. */
  onClosed(): void;
}

/** The other screen of the terminal, without a cursor, where what is too long is cut and not wrapped. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const leave = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const reset = '\u001b[0m';

/** For a terminal that does not say how large it is. */
const usualSize: Size = { columns: 80, rows: 24 };

/** Whether standard output is a terminal on which a view can be refreshed in place. */
export function canBeLive({ stdout, env }: Pick<CommandContext, 'stdout' | 'env'>): boolean {
  return stdout instanceof WriteStream && env['TERM'] !== 'dumb';
}

/**
 * The whole terminal. From `open` on it has the screen and, where standard input is a terminal too, each key at once; when it is
 * disposed of, and in any case when the process exits, the terminal is as it was.
 */
export class TerminalScreen implements Screen, Disposable {
  readonly #output: WriteStream;
  readonly #input: ReadStream | undefined;
  readonly #paint: Paint;
  readonly #listener: ScreenListener;
  readonly #exit: Disposable;
  readonly #keys = new KeyReader();
  #isOpen = true;
  #drawn = '';

  static open(context: CommandContext, paint: Paint, listener: ScreenListener): TerminalScreen {
    return new TerminalScreen(context, paint, listener);
  }

  private constructor(context: CommandContext, paint: Paint, listener: ScreenListener) {
    const { stdout, stdin } = context;
    if (!(stdout instanceof WriteStream)) throw new Error('standard output is not a terminal');
    this.#output = stdout;
    this.#input = stdin instanceof ReadStream ? stdin : undefined;
    this.#paint = paint;
    this.#listener = listener;
    this.#exit = context.onExit(() => this.#restore());
    this.#output.write(enter);
    this.#output.on('resize', this.#onResize);
    this.#input?.setRawMode(true);
    this.#input?.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onEnd);
  }

  get size(): Size {
    const { columns, rows } = this.#output;
    return columns > 0 && rows > 0 ? { columns, rows } : usualSize;
  }

  draw(lines: readonly Line[]): void {
    const text = Array.from({ length: this.size.rows }, (_, index) => {
      // erased before it is written: after the last column the cursor still stands on it
      return `\u001b[${index + 1};1H\u001b[K${paintLine(lines[index] ?? [], this.#paint)}`;
    }).join('');
    if (!this.#isOpen || text === this.#drawn) return;
    this.#drawn = text;
    this.#output.write(text);
  }

  [Symbol.dispose](): void {
    this.#exit[Symbol.dispose]();
    this.#output.off('resize', this.#onResize);
    this.#input?.off('data', this.#onData).off('end', this.#onEnd).pause();
    this.#restore();
  }

  #restore(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#output.write(`${reset}${leave}`);
    if (this.#input?.destroyed === false) this.#input.setRawMode(false);
  }

  readonly #onData = (bytes: Buffer | string): void => {
    for (const key of this.#keys.read(bytes.toString())) this.#listener.onKey(key);
  };

  readonly #onEnd = (): void => this.#listener.onClosed();

  /** What the terminal has made of the rows is not known, so all of them are drawn again. */
  readonly #onResize = (): void => {
    this.#drawn = '';
    this.#output.write('\u001b[2J');
    this.#listener.onResize();
  };
}
