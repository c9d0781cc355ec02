import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { describeError, ExitError, errorCode, exitCodes, ReasonError } from '../../../src/base/index.ts';

describe('describing an error', () => {
  test('tells the message and those of its causes, once each', () => {
    const disk = new Error('disk is gone');
    const write = new Error('cannot write /x', { cause: disk });
    assert.equal(
      describeError(new Error('store failed', { cause: write })),
      'store failed: cannot write /x: disk is gone',
    );
    assert.equal(
      describeError(new Error('cannot write: disk is gone', { cause: disk })),
      'cannot write: disk is gone',
    );
  });

  test('tells all of several errors that came together', () => {
    const both = new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')]);
    assert.equal(describeError(both), '::1 refused; 127.0.0.1 refused');
    assert.equal(
      describeError(new Error('no server', { cause: both })),
      'no server: ::1 refused; 127.0.0.1 refused',
    );
  });

  test('has words for whatever is thrown', () => {
    assert.equal(describeError('as text'), 'as text');
    assert.equal(describeError(undefined), 'undefined');
    assert.equal(describeError(new TypeError()), 'TypeError');
    assert.equal(describeError(new AggregateError([])), 'AggregateError');
    assert.equal(describeError(new Error('odd', { cause: null })), 'odd');
    assert.equal(describeError(new Error('odd', { cause: 'why' })), 'odd: why');
    assert.match(describeError(Object.create(null)), /null prototype/);
    assert.match(describeError({ code: 7 }), /code: 7/);
  });

  test('causes that go in a circle come to an end', () => {
    const first = new Error('first');
    const second = new Error('second', { cause: first });
    first.cause = second;
    assert.match(describeError(first), /^first: second: .*…$/);
    assert.equal(errorCode(first), undefined);
  });
});

describe('the code of an error', () => {
  test('is found on the error or on a cause', async () => {
    const socket = connect('/nowhere/at-all.sock');
    const refused = await new Promise((resolve) => socket.once('error', resolve));
    assert.equal(errorCode(refused), 'ENOENT');
    assert.equal(errorCode(new Error('cannot connect', { cause: refused })), 'ENOENT');
  });

  test('is absent where there is none that is text', () => {
    assert.equal(errorCode(new Error('x')), undefined);
    assert.equal(errorCode({ code: 'EACCES' }), undefined);
    assert.equal(errorCode(Object.assign(new Error('grpc'), { code: 14 })), undefined);
  });
});

test('an exit error carries its code, its cause and its message as it stands', () => {
  const error = new ExitError(exitCodes.locked, 'held by 42', { cause: new Error('EEXIST') });
  assert.equal(error.exitCode, 4);
  assert.equal(error.name, 'ExitError');
  assert.equal(describeError(error), 'held by 42: EEXIST');
});

test('no two exit codes are the same', () => {
  const codes = Object.values(exitCodes);
  assert.equal(new Set(codes).size, codes.length);
});

test('an error with a reason has its reason, message, name and cause', () => {
  class TeapotError extends ReasonError<'short' | 'stout'> {
    override readonly name = 'TeapotError';
  }
  const cause = new Error('steam');
  const error = new TeapotError('stout', 'tip me over', { cause });
  assert.ok(error instanceof Error);
  assert.equal(String(error), 'TeapotError: tip me over');
  assert.deepEqual([error.reason, error.cause], ['stout', cause]);
});
