import { PassThrough } from 'node:stream';
import { createProgram } from '../../src/cli/program.ts';
import type { CommandPage } from '../../src/cli/reference/index.ts';
import { renderMarkdown, toPage } from '../../src/cli/reference/index.ts';

/** The tree of all commands; nothing runs. */
export function commandTree(): CommandPage {
  const program = createProgram({
    env: {},
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    signal: new AbortController().signal,
    onHangup: () => ({ [Symbol.dispose]: () => undefined }),
    onExit: () => ({ [Symbol.dispose]: () => undefined }),
    stop: () => undefined,
    script: '',
    agent: undefined,
  });
  return toPage(program);
}

export const commandsPage = (): string => renderMarkdown(commandTree());
