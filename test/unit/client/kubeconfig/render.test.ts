import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { readKubeconfig, renderKubeconfig } from '../../../../src/client/kubeconfig/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { clientPair, makeAuthority } from '../tls-server.ts';

const authority = await makeAuthority();
const credentials = await clientPair(authority);
const entry = { server: 'https://[::1]:6443', ca: authority.cert, ...credentials, user: 'kubernetes-admin' };

test('what is written is read again', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'config');
  await writeFile(path, renderKubeconfig(entry));
  const { server, ca, cert, key, endpoint, serverName } = await readKubeconfig(path);
  assert.deepEqual({ server, ca, cert, key, user: entry.user }, entry);
  assert.deepEqual([endpoint, serverName], ['controlPlane', undefined]);

  await writeFile(path, renderKubeconfig({ ...entry, serverName: 'node-a', endpoint: 'agent' }));
  const agent = await readKubeconfig(path);
  assert.deepEqual([agent.endpoint, agent.serverName], ['agent', 'node-a']);
});

test('any text in it stays the text it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (user, serverName) => {
      const read: unknown = parse(renderKubeconfig({ ...entry, user, serverName }));
      assert.deepEqual(read, {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [
          {
            name: 'nodeward',
            cluster: {
              server: entry.server,
              'certificate-authority-data': Buffer.from(entry.ca).toString('base64'),
              'tls-server-name': serverName,
            },
          },
        ],
        users: [
          {
            name: user,
            user: {
              'client-certificate-data': Buffer.from(entry.cert).toString('base64'),
              'client-key-data': Buffer.from(entry.key).toString('base64'),
            },
          },
        ],
        contexts: [{ name: 'nodeward', context: { cluster: 'nodeward', user } }],
        'current-context': 'nodeward',
      });
    }),
  );
});
