import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutColour } from '../../../../src/cli/terminal/colour.ts';
import type { Answers } from '../../../../src/cli/top/answers.ts';
import type { Line } from '../../../../src/cli/top/line.ts';
import { paintLine } from '../../../../src/cli/top/line.ts';
import { LiveView } from '../../../../src/cli/top/live.ts';
import { readLook } from '../../../../src/cli/top/look.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { answers } from './samples.ts';

/** A view of an agent whose answers the test gives. */
function start() {
  const clock = createManualClock();
  const asked: PromiseWithResolvers<Answers>[] = [];
  const drawn: string[][] = [];
  const stop = new AbortController();
  const view = new LiveView(
    {
      ...{ clock, intervalMs: 2000, namespace: '', pod: '', sort: 'memory', containers: false },
      ask(signal) {
        const answer = Promise.withResolvers<Answers>();
        signal.addEventListener('abort', () => answer.reject(signal.reason));
        asked.push(answer);
        return answer.promise;
      },
    },
    readLook(answers(100), clock.now()),
  );
  const screen = {
    size: { columns: 120, rows: 20 },
    draw: (lines: readonly Line[]) => void drawn.push(lines.map((line) => paintLine(line, withoutColour))),
  };
  const ended = view.run(screen, stop.signal);
  const type = (character: string) => view.onKey({ character });
  return {
    ...{ clock, asked, drawn, stop, view, ended, type },
    title: () => drawn.at(-1)?.[0],
    rowOf: (name: string) => drawn.at(-1)?.find((row) => row.includes(name)),
  };
}

describe('a live view', () => {
  test('asks again an interval after each answer, and shows what has changed', async () => {
    const { clock, asked, title, rowOf, type, ended } = start();
    assert.equal(title(), 'nodeward top  node-a  00:00:00Z  every 2s');
    assert.doesNotMatch(rowOf('web') ?? '', /50%/, 'one look does not say how much is throttled');
    await clock.advance(1999);
    assert.equal(asked.length, 0);
    await clock.advance(1);
    assert.equal(asked.length, 1);
    await clock.advance(3000);
    assert.equal(asked.length, 1, 'one question at a time');
    asked[0]?.resolve(answers(200));
    await clock.advance(0);
    assert.equal(title(), 'nodeward top  node-a  00:00:05Z  every 2s');
    assert.match(rowOf('web') ?? '', /85% +50%/);
    await clock.advance(2000);
    assert.equal(asked.length, 2);
    type('q');
    await ended;
  });

  test('says since when the agent is away, keeps the figures and goes on when it is back', async () => {
    const { clock, asked, title, rowOf, stop, ended } = start();
    await clock.advance(2000);
    asked[0]?.reject(new Error('connect ECONNREFUSED'));
    await clock.advance(0);
    assert.equal(title(), 'nodeward top  node-a  no figures since 00:00:02Z (0s): connect ECONNREFUSED');
    assert.match(rowOf('db-0') ?? '', /512\.0 MiB/);
    await clock.advance(2000);
    asked[1]?.reject(new Error('503'));
    await clock.advance(1000);
    assert.equal(title(), 'nodeward top  node-a  no figures since 00:00:02Z (3s): 503');
    await clock.advance(1000);
    asked[2]?.resolve(answers(100));
    await clock.advance(0);
    assert.equal(title(), 'nodeward top  node-a  00:00:06Z  every 2s');
    stop.abort();
    await ended;
  });

  test('an agent that does not answer counts as away after five seconds', async () => {
    const { clock, asked, title, view, ended } = start();
    await clock.advance(2000 + 4000);
    assert.match(title() ?? '', /every 2s/);
    await clock.advance(2000);
    assert.equal(title(), 'nodeward top  node-a  no figures since 00:00:02Z (6s): the agent does not answer');
    asked[0]?.resolve(answers(100));
    await clock.advance(0);
    assert.match(title() ?? '', /00:00:08Z {2}every 2s/);
    view.quit();
    await ended;
  });

  test('asks nothing while it is paused, and at once when it goes on', async () => {
    const { clock, asked, title, type, ended } = start();
    type(' ');
    await clock.advance(60_000);
    assert.equal(asked.length, 0);
    assert.equal(title(), 'nodeward top  node-a  paused  00:00:00Z  every 2s');
    type(' ');
    await clock.advance(0);
    assert.equal(asked.length, 1);
    type('q');
    await ended;
  });

  test('quits while a question is under way', async () => {
    const { clock, asked, type, ended } = start();
    await clock.advance(2000);
    assert.equal(asked.length, 1);
    type('q');
    await ended;
    assert.equal(clock.sleepers, 0);
  });
});
