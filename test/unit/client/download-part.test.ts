import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiClient, ConnectionError } from '../../../src/client/index.ts';
import { manageLab } from '../agent/checkpoint/manage/manage-lab.ts';
import { admin, cluster } from '../agent/server/running-server.ts';

describe('a part of a download', () => {
  test('is that part, and never the whole in its place', async () => {
    await using at = await manageLab();
    const { id } = await at.make({ content: Buffer.from('0123456789') });
    const { cert, key } = admin;
    const server = `https://127.0.0.1:${at.server.port}`;
    await using client = new ApiClient({ server, ca: cluster.ca, cert, key, serverName: 'node-a' });
    const read = async (headers: Record<string, string>) => {
      const request = { method: 'GET', path: `/checkpoints/${id}/archive`, headers } as const;
      return Buffer.concat(await Array.fromAsync(client.download(request, 5000))).toString();
    };
    assert.equal(await read({}), '0123456789');
    assert.equal(await read({ range: 'bytes=7-' }), '789');
    await assert.rejects(read({ range: 'bytes=0-1,3-4' }), (error: unknown) => {
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.reason, 'unintelligible');
      return true;
    });
    await assert.rejects(read({ range: 'bytes=10-' }), /answered 416: the archive has 10 bytes/);
    assert.equal(await read({}), '0123456789', 'the client goes on to work');
  });
});
