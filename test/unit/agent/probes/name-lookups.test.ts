import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import dns from 'node:dns';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { NameLookups } from '../../../../src/agent/probes/name-lookups.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { closedPort, probeAt, serveBytes, serveHttp } from './servers.ts';

type Answer = (error: Error | null, addresses: LookupAddress[]) => void;

/** What the system was asked for and has not answered, in order. */
const asked: { readonly host: string; readonly answer: Answer }[] = [];
const here: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });

/** Answers what the system was asked for first, which must have been `host`. */
function answer(host: string, addresses: LookupAddress[] = here, error: Error | null = null): void {
  const first = asked.shift();
  assert.equal(first?.host, host);
  first.answer(error, addresses);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** From now on the test is the system's resolver; servers, which ask it too when they begin to listen, are started before. */
function answerLookups(): void {
  asked.length = 0;
  const lookup = (host: string, _options: object, done: Answer) => void asked.push({ host, answer: done });
  mock.method(dns, 'lookup', lookup);
}
afterEach(() => mock.restoreAll());

describe('probes of hosts with names', () => {
  test('occupy one thread, and fail in their time when nobody answers', async () => {
    answerLookups();
    const names = Array.from({ length: 10 }, (_, index) => `silent${index}.test`);
    const outcomes = await Promise.all(
      names.flatMap((host) => [
        probeAt({ httpGet: { host, port: 80, scheme: 'HTTPS' }, timeoutSeconds: 1 }),
        probeAt({ httpGet: { host, port: 80 }, timeoutSeconds: 1 }),
        probeAt({ tcpSocket: { host, port: 80 }, timeoutSeconds: 1 }),
      ]),
    );
    assert.equal(asked.length, 1);
    for (const [index, outcome] of outcomes.entries())
      assert.match(
        'output' in outcome ? outcome.output : '',
        new RegExp(`dial tcp: lookup ${names[Math.floor(index / 3)]}: i/o timeout`),
      );
    // what is under way is found all the same, so that other tests begin with none
    for (const name of names) {
      answer(name);
      await turn();
    }
  });

  test('ask the address that was found', async () => {
    const port = await serveHttp((_request, response) => response.end());
    answerLookups();
    const outcome = probeAt({ httpGet: { host: 'web.test', port } });
    while (asked.length === 0) await turn();
    answer('web.test');
    assert.deepEqual(await outcome, { result: 'success' });
  });

  test('fail in the words of the reference when there is no such host', async () => {
    answerLookups();
    const outcome = probeAt({ tcpSocket: { host: 'none.test', port: 80 } });
    while (asked.length === 0) await turn();
    answer('none.test', [], notFound);
    const output = 'dial tcp: lookup none.test: no such host';
    assert.deepEqual(await outcome, { result: 'failure', output });
  });

  test('that is localhost need nobody else', async () => {
    const port = await serveBytes((socket) => socket.resume());
    const closed = await closedPort();
    answerLookups();
    assert.deepEqual(await probeAt({ tcpSocket: { host: 'localhost', port } }), { result: 'success' });
    assert.deepEqual(await probeAt({ tcpSocket: { host: 'LOCALHOST', port: closed } }), {
      result: 'failure',
      output: `dial tcp LOCALHOST:${closed}: connect: connection refused`,
    });
    assert.equal(asked.length, 0);
  });
});

describe('lookups of names', () => {
  const clock = createManualClock();
  beforeEach(answerLookups);

  test('of addresses are answered at once', async () => {
    const lookups = new NameLookups(clock);
    assert.deepEqual(await lookups.find('fd00::1'), [{ address: 'fd00::1', family: 6 }]);
    assert.deepEqual(await lookups.find('10.0.0.1'), [{ address: '10.0.0.1', family: 4 }]);
    assert.equal(asked.length, 0);
  });

  test('of one name are shared, and are made one after the other', async () => {
    const lookups = new NameLookups(clock);
    const all = Promise.all(['a.test', 'b.test', 'a.test'].map((host) => lookups.find(host)));
    await turn();
    assert.deepEqual(
      asked.map(({ host }) => host),
      ['a.test'],
    );
    answer('a.test', [], notFound);
    await assert.rejects(all, { code: 'ENOTFOUND' });
    await turn();
    assert.equal(lookups.isUnderWay('b.test'), true);
    answer('b.test');
    await turn();
    assert.equal(lookups.isUnderWay('b.test'), false);
  });

  test('are kept for five seconds, those that failed too', async () => {
    const lookups = new NameLookups(clock);
    const found = lookups.find('a.test');
    await turn();
    answer('a.test');
    await found;
    const failed = lookups.find('b.test');
    await turn();
    answer('b.test', []);
    await assert.rejects(failed, { code: 'ENOTFOUND' });
    await clock.advance(4900);
    assert.deepEqual(await lookups.find('a.test'), here);
    await assert.rejects(lookups.find('b.test'), { code: 'ENOTFOUND' });
    await clock.advance(200);
    const again = lookups.find('a.test');
    await turn();
    answer('a.test', [{ address: '10.0.0.9', family: 4 }]);
    assert.deepEqual(await again, [{ address: '10.0.0.9', family: 4 }]);
  });

  test('fail at once where too many wait, until they have ended', async () => {
    const lookups = new NameLookups(clock);
    const waiting = Array.from({ length: 128 }, (_, index) => lookups.find(`n${index % 2}.test`));
    await turn();
    await assert.rejects(lookups.find('more.test'), { code: 'ETIMEOUT', message: /^lookup more\.test: / });
    assert.deepEqual(await lookups.find('localhost'), [...here, { address: '::1', family: 6 }]);
    answer('n0.test');
    await turn();
    answer('n1.test');
    await Promise.all(waiting);
    const more = lookups.find('more.test');
    await turn();
    answer('more.test');
    assert.deepEqual(await more, here);
  });

  test('answer a socket that wants one address', async () => {
    const lookups = new NameLookups(clock);
    const one = Promise.withResolvers<unknown>();
    lookups.lookup('a.test', {}, (error, address, family) => one.resolve([error, address, family]));
    await turn();
    answer('a.test');
    assert.deepEqual(await one.promise, [null, '127.0.0.1', 4]);
  });
});
