import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import type { AgentDescription } from '../../../../../src/agent/config/control-socket/index.ts';
import {
  controlSocketPath,
  findRunningAgent,
  withoutSecrets,
} from '../../../../../src/agent/config/control-socket/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { sampleAgent, startSocket } from './socket-bench.ts';

const find = (rootDir: string) => findRunningAgent(rootDir, new AbortController().signal);

async function findBehind(answer: string) {
  await using folder = await temporaryFolder();
  const server = createServer((socket) => socket.end(answer)).listen(controlSocketPath(folder.path));
  await once(server, 'listening');
  try {
    return await find(folder.path);
  } finally {
    server.close();
  }
}

/** The user id of nobody. */
const nobody = 65_534;

describe('agent.sock tells what the running agent is', () => {
  test('its process, command line, folders, files, addresses, kubeconfig, runtime and lock file', async () => {
    await using folder = await temporaryFolder();
    const agent: AgentDescription = {
      ...sampleAgent(folder.path),
      sources: {
        config: '/etc/nodeward/config.yaml',
        configDir: '/etc/nodeward/config.d',
        flags: {
          port: 10350,
          address: '127.0.0.1',
          seccompDefault: true,
          containerRuntimeEndpoint: 'unix:///run/x.sock',
          featureGates: { AllAlpha: false },
        },
        standalone: false,
      },
      files: ['/etc/nodeward/config.yaml'],
      controlPlane: { mode: 'joining', kubeconfig: '/a', bootstrapKubeconfig: '/b' },
      runtimeEndpoint: 'unix:///run/x.sock',
    };
    await using _socket = await startSocket(folder.path, { agent });
    assert.deepEqual(await find(folder.path), { agent });
  });

  test('without an agent there is none, and one that says something else is a fault', async () => {
    await using folder = await temporaryFolder();
    assert.deepEqual(await find(folder.path), { fault: undefined });
    for (const answer of [
      '{"ok":false,"configuration":false,"message":"the agent knows no such request"}\n',
      '{"ok":true,"agent":{"pid":"1"}}\n',
      `{"ok":true,"agent":${JSON.stringify({ ...sampleAgent('/x'), controlPlane: { mode: 'other' } })}}\n`,
      '',
    ])
      assert.match((await findBehind(answer)).fault ?? '', /does not say what it is/, answer);
  });

  test('another user is refused, which is a fault and no absence', async () => {
    await using folder = await temporaryFolder();
    await using _socket = await startSocket(folder.path, {});
    await chmod(controlSocketPath(folder.path), 0);
    const isRoot = process.geteuid?.() === 0; // who may open every socket
    if (isRoot) process.seteuid?.(nobody);
    try {
      assert.match((await find(folder.path)).fault ?? '', /this user may not open/);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  test('secrets are left out of the command line', () => {
    const words = [
      'agent',
      '--etcd-servers=https://me:pw@10.0.0.1:2379,https://u:v@b',
      '--token',
      'abc',
      '--x-password=y',
    ];
    assert.deepEqual(withoutSecrets(words), [
      'agent',
      '--etcd-servers=https://REDACTED@10.0.0.1:2379,https://REDACTED@b',
      '--token',
      'REDACTED',
      '--x-password=REDACTED',
    ]);
    const harmless = ['--token-auth-file=/x', '--node-labels', 'a=b', '--port', '10350'];
    assert.deepEqual(withoutSecrets(harmless), harmless);
  });

  test('passwords with / or @ were left in the command line', () => {
    const urls = 'https://root:p@ss/w@h:2379,https://root:a,b/c@d@h2:2379,http://h3:2379';
    const shown = 'https://REDACTED@h:2379,https://REDACTED@h2:2379,http://h3:2379';
    assert.deepEqual(withoutSecrets([`--etcd-servers=${urls}`, '--etcd-servers', urls, 'http://u:p w@h']), [
      `--etcd-servers=${shown}`,
      '--etcd-servers',
      shown,
      'http://REDACTED@h',
    ]);
  });
});
