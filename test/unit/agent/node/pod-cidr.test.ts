import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PodCidr } from '../../../../src/agent/node/index.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import { waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

class Refusal extends Error {}

/** A runtime that takes what it is given, unless `fault` says otherwise. */
function runtime(configured: readonly string[] = []) {
  const given: string[] = [];
  const { log, text } = recordedLog();
  const at: { fault: (() => Error | undefined) | undefined; start: () => void } = {
    fault: undefined,
    start: () => undefined,
  };
  const podCidr = new PodCidr({
    configured,
    async send(cidr) {
      given.push(cidr);
      const error = at.fault?.();
      if (error !== undefined) throw error;
    },
    isRefused: (error) => error instanceof Refusal,
    onRuntimeStart(listener) {
      at.start = listener;
      return { [Symbol.dispose]: () => undefined };
    },
    ...{ log, clock: fastClock(100) },
  });
  const end = new AbortController();
  const running = podCidr.run(end.signal, () => undefined);
  return Object.assign(at, {
    ...{ podCidr, given, text },
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  });
}

describe('the addresses of pods are passed to the runtime', () => {
  test('both families as one text, and again when they change or the runtime starts', async () => {
    await using at = runtime();
    at.podCidr.follow(['10.0.1.0/24', 'fd00::/64']);
    at.podCidr.follow(['10.0.1.0/24', 'fd00::/64']);
    await waitFor('the first', () => at.given.length === 1);
    at.podCidr.follow(['10.0.2.0/24']);
    await waitFor('the change', () => at.given.length === 2);
    at.podCidr.follow([]);
    at.start();
    await waitFor('the start', () => at.given.length === 3);
    assert.deepEqual(at.given, ['10.0.1.0/24,fd00::/64', '10.0.2.0/24', '10.0.2.0/24']);
  });

  test('those of the configuration until the Node has its own', async () => {
    await using at = runtime(['10.9.0.0/24']);
    await waitFor('that of the configuration', () => at.given.length === 1);
    at.podCidr.follow(['10.0.1.0/24']);
    await waitFor('that of the Node', () => at.given.length === 2);
    assert.deepEqual(at.given, ['10.9.0.0/24', '10.0.1.0/24']);
  });

  test('tried again after a failure, which is logged once', async () => {
    await using at = runtime();
    let left = 3;
    at.fault = () => (left-- > 0 ? new Error('the disk is full') : undefined);
    at.podCidr.follow(['10.0.1.0/24']);
    await waitFor('four tries', () => at.given.length === 4);
    assert.equal(at.text().split('failed to update pod CIDR: the disk is full').length, 2, at.text());
  });

  test('a start of the runtime in the middle of the call counts', async () => {
    await using at = runtime();
    at.fault = () => {
      at.fault = undefined;
      at.start();
      return undefined;
    };
    at.podCidr.follow(['10.0.1.0/24']);
    await waitFor('both', () => at.given.length === 2);
  });

  test('a runtime that does not know the call is not asked again before it starts', async () => {
    await using at = runtime();
    at.fault = () => new Refusal('unknown method');
    at.podCidr.follow(['10.0.1.0/24']);
    await waitFor('the first', () => at.given.length === 1);
    at.start();
    await waitFor('the second', () => at.given.length === 2);
    at.podCidr.follow(['10.0.2.0/24']);
    await waitFor('the third', () => at.given.length === 3);
    assert.doesNotMatch(at.text(), /failed/);
  });
});
