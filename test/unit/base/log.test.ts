import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { silentLogger } from '../../../src/base/index.ts';
import { recordedLog } from './recorded-log.ts';

describe('the log in JSON', () => {
  test('is one object a line: level as a word, time as RFC 3339, fields, message', () => {
    const { log, text } = recordedLog();
    log.child({ part: 'lease' }).info({ node: 'a' }, 'renewed');
    const { time, ...line } = JSON.parse(text());
    assert.deepEqual(line, { level: 'info', part: 'lease', node: 'a', msg: 'renewed' });
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(text().endsWith('\n'));
  });

  test('tells an error with its stack and its cause', () => {
    const { log, text } = recordedLog();
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
    const { err } = JSON.parse(text());
    assert.match(err.message, /outer.*inner/);
    assert.match(err.stack, /log\.test\.ts/);
  });

  test('leaves out what is below its level', () => {
    const { log, text } = recordedLog('json', 'warn');
    log.debug('one');
    log.info('two');
    log.warn('three');
    assert.equal(text().trim().split('\n').length, 1);
    silentLogger().error('nobody hears');
  });
});

describe('the log as text', () => {
  test('is short, with the part before and the fields behind', () => {
    const { log, text } = recordedLog('text');
    log.child({ part: 'lease' }).warn({ node: 'a', why: 'no answer', tries: 3 }, 'late');
    assert.match(text(), /^\d\d:\d\d:\d\d\.\d{3} WARN {2}\[lease\] late node=a why="no answer" tries=3\n$/);
  });

  test('shows the stack of an error, indented', () => {
    const { log, text } = recordedLog('text');
    log.error({ err: new Error('broken') }, 'failed');
    const [first, second, third] = text().split('\n');
    assert.match(first ?? '', /ERROR failed$/);
    assert.equal(second, '    Error: broken');
    assert.match(third ?? '', /^ {8}at /);
  });

  test('colours only when told to', () => {
    const plain = recordedLog('text');
    plain.log.info('x');
    assert.ok(!plain.text().includes('\u001b'));
    const coloured = recordedLog('text', 'debug', true);
    coloured.log.info('x');
    assert.ok(coloured.text().includes('\u001b[36mINFO \u001b[0m'));
  });

  test('a message from outside cannot forge a line nor speak to the terminal', () => {
    const { log, text } = recordedLog('text');
    log
      .child({ part: 'a\u001b[31m' })
      .info({ 'k\u001b': 'v\u009b2J', list: ['\u007f'] }, 'bad\n10:00 INFO forged\u001b[2J\r');
    const lines = text().split('\n');
    assert.equal(lines.length, 3);
    assert.match(lines[1] ?? '', /^ {4}10:00 INFO forged/);
    assert.doesNotMatch(text().replaceAll('\n', ''), /\p{Cc}/u);
  });
});

test('secrets under their usual names are blotted out in both formats', () => {
  const secret = 'hunter2';
  for (const format of ['json', 'text'] as const) {
    const { log, text } = recordedLog(format);
    log.info({ token: secret, headers: { authorization: secret, cookie: secret } }, 'request');
    log.info({ request: { headers: { Authorization: secret } }, user: { password: secret } }, 'request');
    log.child({ password: secret }).info({ key: { privateKey: secret } }, 'child');
    assert.doesNotMatch(text(), /hunter2/, format);
    assert.match(text(), /Redacted/);
  }
});

test('a value that is no JSON does not break the log', () => {
  const { log, text } = recordedLog();
  const circle: Record<string, unknown> = { size: 10n };
  circle['self'] = circle;
  log.info({ circle, fn: () => 1, nothing: undefined }, 'odd');
  assert.match(text(), /"msg":"odd"/);
});

describe('the log in the journal', () => {
  test('has each line’s priority, and neither the time nor the level that the journal has itself', () => {
    const { log, text } = recordedLog('text', 'debug', false, true);
    log.debug('one');
    log.child({ part: 'lease' }).info({ node: 'a' }, 'two');
    log.warn('three');
    log.error('four');
    assert.equal(text(), '<7>one\n<6>[lease] two node=a\n<4>three\n<3>four\n');
  });

  test('every line of one that has several', () => {
    const { log, text } = recordedLog('text', 'debug', false, true);
    log.error({ err: new Error('broken') }, 'failed\n<0>forged');
    for (const line of text().trimEnd().split('\n')) assert.match(line, /^<3>/);
    assert.match(text(), /^<3>failed\n<3> {4}<0>forged\n/);
  });

  test('stays JSON where that is asked for', () => {
    const { log, text } = recordedLog('json', 'debug', false, true);
    log.warn('late');
    assert.match(text(), /^<4>\{"level":"warn",.*"msg":"late"\}\n$/);
  });
});

test('empty fields are left out of text', () => {
  const { log, text } = recordedLog('text');
  log.warn(
    { version: '', name: '', reason: 'Away', applied: [], tries: 0 },
    'container runtime is not ready',
  );
  assert.match(text(), /container runtime is not ready reason=Away tries=0\n$/);
});
