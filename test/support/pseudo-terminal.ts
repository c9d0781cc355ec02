import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { reportOnFailure } from './failure-report.ts';
import { ensureReaper } from './reaper.ts';
import { TerminalRows } from './terminal-rows.ts';
import type { WaitOptions } from './wait-for.ts';
import { waitFor } from './wait-for.ts';

export interface TerminalOptions {
  columns: number;
  rows: number;
  /** Of the program; default this process's own with TERM=xterm. */
  env?: NodeJS.ProcessEnv;
}

export interface TerminalEnd {
  /** Negative: the signal that ended it. */
  readonly code: number;
  /** Whether lines are edited, echoed and Ctrl-C is a signal as before; false after a hang-up. */
  readonly isCooked: boolean;
}

/** A program on a terminal of its own. Disposal ends it. */
export interface TerminalProgram extends AsyncDisposable {
  /** Of the program. */
  readonly pid: number;
  /** What stands on the terminal now. */
  readonly screen: TerminalRows;
  /** All that the program has written. */
  readonly output: string;
  readonly ended: Promise<TerminalEnd>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  signal(number: number): void;
  hangUp(): void;
  /** Until a row of the screen matches. */
  waitForRow(pattern: RegExp, options?: WaitOptions): Promise<string>;
}

/** Starts a program on a new terminal; needs python3. */
export async function startOnTerminal(
  command: readonly string[],
  { columns, rows, env = process.env }: TerminalOptions,
): Promise<TerminalProgram> {
  ensureReaper();
  const script = join(import.meta.dirname, 'pseudo-terminal.py');
  const argv = [script, String(columns), String(rows), ...command];
  const child = spawn('python3', argv, { env: { ...env, TERM: 'xterm' }, stdio: ['pipe', 'pipe', 'pipe'] });
  const screen = new TerminalRows(columns, rows);
  let [output, messages] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    screen.write(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  child.stdin.on('error', () => undefined); // it has ended
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const order = (what: object) => child.stdin.write(`${JSON.stringify(what)}\n`);
  reportOnFailure({
    name: command.join(' '),
    get stdout() {
      return `${screen.rows.join('\n')}\n`;
    },
    get stderr() {
      return messages;
    },
    end: undefined,
  });
  const { pid } = await waitFor('the program to start', () => parseMessage(messages, 0));
  return {
    pid: pid ?? 0,
    screen,
    get output() {
      return output;
    },
    ended: closed.then(() => {
      const { code = Number.NaN, isCooked = false } = parseMessage(messages, 1) ?? {};
      return { code, isCooked };
    }),
    type: (keys) => order({ keys }),
    resize(newColumns, newRows) {
      screen.resize(newColumns, newRows);
      order({ size: [newColumns, newRows] });
    },
    signal: (number) => order({ signal: number }),
    hangUp: () => order({ hangup: true }),
    waitForRow: (pattern, options) =>
      waitFor(`a row like ${pattern}`, () => screen.rows.find((row) => pattern.test(row)), options),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
    },
  };
}

interface Message {
  pid?: number;
  code?: number;
  isCooked?: boolean;
}

function parseMessage(messages: string, index: number): Message | undefined {
  const line = messages.split('\n').filter((each) => each.startsWith('{'))[index];
  const isWhole = line !== undefined && messages.includes(`${line}\n`);
  return isWhole ? (JSON.parse(line) as Message) : undefined;
}
