import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { ToAgent } from '../../../../src/client/embedded/index.ts';
import { attachToAgent } from '../../../../src/client/embedded/index.ts';

const pem = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
const place = { url: 'https://127.0.0.1:6443', ca: pem, kubeconfig: '/root/admin.kubeconfig' };
const request = { csrPem: 'csr', usage: 'client', node: 'node-a', addresses: [] };

/** A channel whose other end is the test. */
class Channel extends EventEmitter {
  connected = true;
  readonly sent: ToAgent[] = [];

  send(message: ToAgent, done: (error: Error | null) => void): void {
    this.sent.push(message);
    setImmediate(() => done(null));
  }

  say(message: unknown): void {
    this.emit('message', message);
  }

  close(): void {
    this.connected = false;
    this.emit('disconnect');
  }
}

function attach(channel = new Channel()) {
  const stops: string[] = [];
  const end = attachToAgent(channel, { onStop: () => stops.push('stop') });
  return { channel, end, stops };
}

async function turn(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('a ping is answered, before it serves too', () => {
  const { channel } = attach();
  channel.say({ type: 'ping' });
  assert.deepEqual(channel.sent, [{ type: 'pong' }]);
});

test('stop, and the end of the channel, are told once', () => {
  const { channel, stops } = attach();
  channel.say({ type: 'stop' });
  channel.say({ type: 'stop' });
  channel.close();
  assert.deepEqual(stops, ['stop']);
});

test('the end of the channel alone is a stop', () => {
  const { channel, stops } = attach();
  channel.close();
  assert.deepEqual(stops, ['stop']);
});

test('an agent that has gone before is noticed at once', () => {
  const channel = new Channel();
  channel.connected = false;
  assert.deepEqual(attach(channel).stops, ['stop']);
});

test('what it is asked is signed, once it serves', async () => {
  const { channel, end } = attach();
  channel.say({ type: 'sign', id: 1, ...request });
  await turn();
  end.ready(place, async ({ node, usage }) => `${pem}${node} ${usage}`);
  channel.say({ type: 'sign', id: 2, ...request });
  await turn();
  assert.deepEqual(channel.sent, [
    { type: 'refused', id: 1, why: 'the control plane is still starting' },
    { type: 'ready', ...place },
    { type: 'signed', id: 2, pem: `${pem}node-a client` },
  ]);
});

test('a refusal says why, and what cannot be read is refused too', async () => {
  const { channel, end } = attach();
  end.ready(place, async () => {
    throw new Error('not yours', { cause: new Error('wrong name') });
  });
  channel.say({ type: 'sign', id: 1, ...request });
  channel.say({ type: 'sign', id: 2, ...request, usage: 'authority' });
  channel.say({ type: 'sing', id: 3 });
  channel.say(null);
  await turn();
  const answers = channel.sent.filter(({ type }) => type === 'refused');
  assert.deepEqual(answers, [
    { type: 'refused', id: 2, why: 'the request for a signature cannot be read' },
    { type: 'refused', id: 1, why: 'not yours: wrong name' },
  ]);
});

test('the reason of a failure is on its way when failed() resolves; without an agent it resolves too', async () => {
  const { channel, end } = attach();
  await end.failed('the port is taken', 5);
  assert.deepEqual(channel.sent, [{ type: 'failed', message: 'the port is taken', exitCode: 5 }]);
  channel.close();
  await end.failed('again', 5);
  assert.equal(channel.sent.length, 1);
});
