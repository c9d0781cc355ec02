// On a terminal of their own, which python3 makes: what the program draws, what it does with keys, and how it leaves the terminal.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TerminalProgram } from '../../../support/index.ts';
import { runCommand, startOnTerminal, waitFor } from '../../../support/index.ts';
import { nodeWith } from '../../apiserver/node-proxy/agent.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { answers } from './samples.ts';

const main = resolve(import.meta.dirname, '../../../../src/main.ts');
/** What it does at this signal no program does: an error that nothing catches. */
const crash = 'data:text/javascript,process.on("SIGUSR2",()=>{throw new Error("crashed on purpose")})';

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
let kubeconfig = '';
/** The agent of the node closes its connections without an answer. */
let isAway = false;

before(async () => {
  const server = stack.use(await startServer());
  const { summary, limits, pods } = answers();
  const bodies: Readonly<Record<string, unknown>> = {
    '/stats/summary': summary,
    '/stats/limits': limits,
    '/pods/explain': pods,
  };
  const agent = await nodeWith(server, 'node-a', (request, response) => {
    if (isAway) request.socket.destroy();
    else response.end(JSON.stringify(bodies[(request.url ?? '').split('?')[0] ?? ''] ?? {}));
  });
  stack.use(agent);
  kubeconfig = server.running.kubeconfig;
});

/** It takes a second of a processor, which a machine that does much else gives it late. */
const limit = { timeoutMs: 60_000, intervalMs: 20 };

async function startTop(...flags: string[]): Promise<TerminalProgram> {
  const command = [process.execPath, '--import', crash, main, 'top', '--kubeconfig', kubeconfig, ...flags];
  const top = await startOnTerminal(command, {
    columns: 100,
    rows: 24,
    env: { ...process.env, NO_COLOR: '1' },
  });
  await top.waitForRow(/^nodeward top {2}node-a/, limit);
  return top;
}

const names = ({ screen }: TerminalProgram) =>
  screen.rows.flatMap((row) => /^ ?\S+\/([\w-]+)|^ {2}(\w+) /.exec(row)?.slice(1).find(Boolean) ?? []);
const untilNames = (top: TerminalProgram, ...wanted: string[]) =>
  waitFor(`${wanted}`, () => names(top).join() === wanted.join(), limit);

async function assertLeft(top: TerminalProgram, code: number) {
  assert.deepEqual(await top.ended, { code, isCooked: true });
  const { isAlternate, isCursorVisible, wraps } = top.screen;
  assert.deepEqual(
    { isAlternate, isCursorVisible, wraps },
    { isAlternate: false, isCursorVisible: true, wraps: true },
  );
}

const { code } = await runCommand('python3', ['--version']).catch(() => ({ code: 1 }));
const skip = code === 0 ? false : 'there is no python3, which makes the terminals';

describe('nodeward top on a terminal', { skip }, () => {
  test('draws the node and its pods, follows keys and the size, and leaves all as it was', async () => {
    await using top = await startTop('--interval', '1h');
    await untilNames(top, 'db-0', 'web-7d9c5b6f4-x2x7q', 'dns-abcde', 'foreign', 'cron-28373');
    assert.ok(top.screen.isAlternate && !top.screen.isCursorVisible && !top.screen.wraps);
    assert.match(top.screen.rows.at(-1) ?? '', /^q quit/);
    top.type('n');
    await untilNames(top, 'foreign', 'dns-abcde', 'cron-28373', 'db-0', 'web-7d9c5b6f4-x2x7q');
    top.type('/db');
    await top.waitForRow(/^filter: db_/, limit);
    top.type('\r');
    await untilNames(top, 'db-0');
    top.type('p');
    await untilNames(top, 'db-0', 'postgres');
    top.type('\u001b');
    await top.waitForRow(/foreign/, limit);
    top.resize(60, 10);
    await top.waitForRow(/1-4 of 11$/, limit);
    top.type('\u001b[B\u001b[6~');
    await top.waitForRow(/6-9 of 11$/, limit);
    top.type('q');
    await assertLeft(top, 0);
    assert.doesNotMatch(top.output, /\[(?:2|31|33)m/, 'NO_COLOR');
  });

  test('says that the agent is away, keeps the figures, and goes on when it is back', async () => {
    await using top = await startTop('--interval', '1s');
    isAway = true;
    await top.waitForRow(/^nodeward top {2}node-a {2}no figures since \d\d:\d\d:\d\dZ \(\d+s\): /, limit);
    assert.ok(names(top).includes('db-0'));
    isAway = false;
    await top.waitForRow(/^nodeward top {2}node-a {2}\d\d:\d\d:\d\dZ {2}every 1s/, limit);
    top.type(' ');
    await top.waitForRow(/ paused /, limit);
    top.type('\u0003');
    await assertLeft(top, 0);
  });

  for (const [name, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    test(`${name} ends it, and the terminal is as it was`, async () => {
      await using top = await startTop();
      top.signal(number);
      await assertLeft(top, 0);
    });
  }

  test('a crash leaves the terminal as it was, and its error can be read there', async () => {
    await using top = await startTop();
    top.signal(12);
    await assertLeft(top, 1);
    assert.ok(
      top.screen.rows.some((row) => row.includes('Error: crashed on purpose')),
      top.screen.rows.join('\n'),
    );
  });

  test('it ends with its terminal', async () => {
    await using top = await startTop();
    top.hangUp();
    assert.equal((await top.ended).code, 0);
  });
});
