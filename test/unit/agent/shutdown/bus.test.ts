import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusMessage } from '../../../../src/agent/shutdown/bus/index.ts';
import {
  BusConnection,
  encodeMessage,
  findBusPath,
  MessageParser,
} from '../../../../src/agent/shutdown/bus/index.ts';
import { BusReader, splitSignature } from '../../../../src/agent/shutdown/bus/wire.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { fakeBus } from '../../../support/fake-bus.ts';
import { waitFor } from '../../../support/index.ts';

const draft = {
  ...{ kind: 'call' as const, destination: 'a.b', path: '/c', interfaceName: 'd.e', member: 'F' },
  ...{ signature: 'ssib', body: ['ä', '', -5, true] },
};

/** One entry as ListInhibitors of logind answers it, written by hand: the specification's alignment. */
const inhibitors = Buffer.from(
  `${'34000000'}${'00000000'}${'08000000'}73687574646f776e00000000${'03000000'}77686f00${'03000000'}77687900${'05000000'}64656c61790000000000000007000000`,
  'hex',
);

describe('messages of D-Bus', () => {
  test('are read as they are written, in any pieces', () => {
    const bytes = Buffer.concat([
      encodeMessage(draft, 1),
      encodeMessage({ ...draft, body: ['x', 'y', 7, false] }, 2),
    ]);
    for (const size of [1, 7, bytes.length]) {
      const parser = new MessageParser();
      const read: BusMessage[] = [];
      for (let at = 0; at < bytes.length; at += size)
        read.push(...parser.push(bytes.subarray(at, at + size)));
      assert.deepEqual(
        read.map(({ serial, kind, destination, path, member, body }) => [
          serial,
          kind,
          destination,
          path,
          member,
          body,
        ]),
        [
          [1, 'call', 'a.b', '/c', 'F', ['ä', '', -5, true]],
          [2, 'call', 'a.b', '/c', 'F', ['x', 'y', 7, false]],
        ],
      );
    }
  });

  test('arrays of structures are aligned', () => {
    assert.deepEqual(new BusReader(inhibitors, true).readAll('a(ssssuu)'), [
      [['shutdown', 'who', 'why', 'delay', 0, 7]],
    ]);
  });

  test('every type is read, in both byte orders', () => {
    const values = Buffer.alloc(64);
    values.writeUInt8(9, 0);
    values.writeInt16BE(-2, 2);
    values.writeUInt16BE(3, 4);
    values.writeInt32BE(-4, 8);
    values.writeBigInt64BE(-5n, 16);
    values.writeBigUInt64BE(6n, 24);
    values.writeDoubleBE(0.5, 32);
    values.write('\u0001s\0', 40);
    values.writeUInt32BE(2, 44);
    values.write('hi\0', 48);
    assert.deepEqual(new BusReader(values, false).readAll('ynqixtdv'), [9, -2, 3, -4, -5n, 6n, 0.5, 'hi']);
  });

  test('what is none ends the reading, and costs no more than its bytes', () => {
    const good = encodeMessage(draft, 1);
    const broken = (at: number, value: number) => {
      const bytes = Buffer.from(good);
      bytes.writeUInt32LE(value, at);
      return bytes;
    };
    for (const [bytes, expected] of [
      [Buffer.from('HTTP/1.1 400 Bad Request'), /no message of D-Bus/],
      [broken(4, 0xffff_fff0), /at most 1048576 are read/],
      [broken(12, 0x7fff_fff0), /at most 1048576 are read/],
      [broken(12, 3), /D-Bus/],
    ] as const)
      assert.throws(() => new MessageParser().push(bytes), expected);
    for (const signature of ['a', '(', '()', '}', 'z', 'a{', `${'a'.repeat(70)}y`, 's'.repeat(300)])
      assert.throws(() => splitSignature(signature), /signature|structure/, signature);
    const deep = Buffer.concat(Array.from({ length: 400 }, () => Buffer.from('\u0001v\0')));
    assert.throws(() => new BusReader(deep, true).readAll('v'), /too many values|too early/);
    assert.throws(
      () => new BusReader(Buffer.from('ffffff7f', 'hex'), true).readAll('as'),
      /longer than its message/,
    );
  });

  test('random bytes never do anything but end the reading', () => {
    const good = encodeMessage(draft, 1);
    for (let round = 0; round < 2000; round += 1) {
      const bytes = Buffer.from(good);
      for (let count = 0; count < 3; count += 1)
        bytes[Math.floor(Math.random() * bytes.length)] = Math.floor(Math.random() * 256);
      try {
        new MessageParser().push(bytes);
      } catch (error) {
        assert.ok(error instanceof Error && !(error instanceof TypeError), String(error));
      }
    }
  });
});

describe('the connection to D-Bus', () => {
  const options = { user: 0, clock: systemClock, onSignal: () => undefined };
  const never = new AbortController().signal;
  const hello = { destination: 'x', path: '/', interfaceName: 'x', member: 'Hello' };

  test('calls are answered, and errors have their name', async () => {
    await using bus = await fakeBus();
    using connection = await BusConnection.open({ ...options, path: bus.path }, never);
    assert.deepEqual(await connection.call(hello, never), [':1.1']);
    bus.logind.isThere = false;
    await assert.rejects(
      connection.call({ ...hello, member: 'GetNameOwner' }, never),
      /no such name .*ServiceUnknown/,
    );
  });

  test('a bus that is not there, lets nobody in, or speaks another protocol', async () => {
    await assert.rejects(BusConnection.open({ ...options, path: '/does/not/exist' }, never), /ENOENT/);
    await using strict = await fakeBus('REJECTED EXTERNAL');
    await assert.rejects(
      BusConnection.open({ ...options, path: strict.path }, never),
      /lets nobody in: REJECTED/,
    );
    await using other = await fakeBus('x'.repeat(2000));
    await assert.rejects(BusConnection.open({ ...options, path: other.path }, never), /no answer of D-Bus/);
  });

  test('what is under way rejects when the connection ends, and so does what comes later', async () => {
    await using bus = await fakeBus();
    using connection = await BusConnection.open({ ...options, path: bus.path }, never);
    const unanswered = connection.call({ ...hello, member: 'Silence' }, never);
    const rejected = assert.rejects(unanswered, /D-Bus/);
    await waitFor('the connection', () => bus.connections === 1);
    bus.send(Buffer.from('this is not D-Bus at all'));
    await rejected;
    assert.match((await connection.closed).message, /no message of D-Bus/);
    await assert.rejects(connection.call(hello, never), /no message of D-Bus/);
  });

  test('its socket is where the environment says', () => {
    assert.equal(findBusPath({}), '/run/dbus/system_bus_socket');
    assert.equal(findBusPath({ DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/a/b,guid=1;tcp:host=c' }), '/a/b');
    assert.equal(findBusPath({ DBUS_SYSTEM_BUS_ADDRESS: 'tcp:host=c' }), '/run/dbus/system_bus_socket');
  });
});
