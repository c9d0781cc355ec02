import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { MessageMemory } from '../../../../src/apiserver/web-streams/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { Session } from './session.ts';
import { startSession } from './session.ts';

const kibibyte = 1024;

async function start(memory: MessageMemory, user: string): Promise<Session> {
  const session = await startSession({}, memory, user);
  session.client.on('error', () => undefined);
  await waitFor('its streams', () => session.runtime.streams.length === 4);
  return session;
}

const input = (bytes: number) => Buffer.alloc(bytes); // on channel 0, that of stdin
const arrived = ({ runtime }: Session) => Buffer.concat(runtime.find('stdin')?.pieces ?? []).length;

/** Begins a message of 900 KiB, and sends a little of it. */
function begin({ client }: Session): void {
  const raw: unknown = Reflect.get(client, '_socket');
  assert.ok(raw instanceof Socket);
  const head = Buffer.from([0x82, 0xff, ...Buffer.alloc(12)]);
  head.writeBigUInt64BE(BigInt(900 * kibibyte), 2);
  raw.write(Buffer.concat([head, input(1000)]));
}

describe('the messages of all clients', { timeout: 60_000 }, () => {
  test('share the room for large ones; who finds none is closed with 1013, and small ones pass', async () => {
    const memory = new MessageMemory(3700 * kibibyte);
    await using first = await start(memory, 'first');
    await using second = await start(memory, 'second');
    await using third = await start(memory, 'third');
    await using fourth = await start(memory, 'fourth');
    await using small = await start(memory, 'small');
    await using large = await start(memory, 'large');
    large.client.send(input(200 * kibibyte));
    await waitFor('a large one while there is room', () => arrived(large) === 200 * kibibyte - 1);
    for (const each of [first, second, third, fourth]) begin(each);
    let code: number | undefined;
    void large.closed.then((closed) => {
      code = closed;
    });
    await waitFor('a large one to be refused', () => {
      if (code === undefined) large.client.send(input(200 * kibibyte));
      return code !== undefined;
    });
    assert.equal(code, 1013);
    await large.done;
    small.client.send(input(60 * kibibyte));
    await waitFor('a small one', () => arrived(small) === 60 * kibibyte - 1);
    first.client.terminate();
    await first.done;
    small.client.send(input(300 * kibibyte));
    await waitFor('a large one, now that there is room again', () => arrived(small) === 360 * kibibyte - 2);
  });

  test('of one user have a quarter of it, on all connections together', async () => {
    const memory = new MessageMemory(4096 * kibibyte);
    await using first = await start(memory, 'greedy');
    await using second = await start(memory, 'greedy');
    await using other = await start(memory, 'other');
    begin(first);
    begin(second);
    const code = await Promise.race([first.closed, second.closed]);
    assert.equal(code, 1013);
    other.client.send(input(900 * kibibyte));
    await waitFor('that of another user', () => arrived(other) === 900 * kibibyte - 1);
  });

  test('count while they come in pieces', async () => {
    const memory = new MessageMemory(4096 * kibibyte);
    await using slow = await start(memory, 'slow');
    await using other = await start(memory, 'other');
    slow.runtime.socket.pause();
    for (let round = 0; round < 64; round += 1)
      slow.client.send(input(512 * kibibyte), { fin: false }, () => undefined);
    assert.equal(await slow.closed, 1013);
    other.client.send(input(512 * kibibyte));
    await waitFor('another one', () => arrived(other) === 512 * kibibyte - 1);
  });
});
