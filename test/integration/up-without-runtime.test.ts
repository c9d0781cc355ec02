/** `scripts/up` as a person in a checkout uses it, where there is no runtime, or something that it does not start with. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chown, mkdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCodes } from '../../src/base/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runCommand, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { kubectl } from './lab/index.ts';
import type { AgentStart } from './nodeward/index.ts';
import { copyCheckout, processesNaming, runAgentToItsEnd, startAgent } from './nodeward/index.ts';
import { outputOf, readyCondition } from './ready-condition.ts';

/** What the system lets an ordinary user be. */
const nobody = 65_534;
const stopMs = 3000;

before(ensureBuilt);

describe('scripts/up without a runtime', () => {
  test('runs all the same, the node says why it is not Ready, and what it uses is known', async () => {
    await using home = await temporaryFolder('up-');
    const socket = join(home.path, 'nowhere.sock');
    const args = ['--container-runtime-endpoint', `unix://${socket}`];
    await using agent = await startAgent({ rootDir: join(home.path, 'root'), args });
    const { node, kubeconfig = '', runtime } = agent.summary;
    assert.match(runtime, /^container runtime, not ready: /);
    const tool = kubectl(kubeconfig, home.path);
    const message = await waitFor('the condition', async () => {
      const [status, reason, text = ''] = await readyCondition(tool, node);
      return status === 'False' && reason === 'KubeletNotReady' && text.includes(socket) && text;
    });
    assert.match(message, /container runtime/);
    assert.match(await outputOf(tool.run(['get', 'nodes', '-o', 'wide'])), / NotReady /);
    assert.ok((await outputOf(tool.run(['describe', 'node', node]))).includes(message));
    const top = await waitFor('its figures', async () => {
      const { code, stdout } = await tool.run(['top', 'nodes']);
      return code === 0 && stdout;
    });
    assert.match(top, new RegExp(`^${node} +\\d+m +\\d+% +\\d+Mi +\\d+%`, 'm'));
  });
});

describe('scripts/up that cannot start', () => {
  let home: TemporaryFolder;
  before(async () => {
    home = await temporaryFolder('up-');
  });
  after(() => home[Symbol.asyncDispose]());

  /** Ends by itself with that code and, as its last words, one line that says why; leaves no process. */
  async function refuses(code: number, message: RegExp, start: AgentStart): Promise<void> {
    const noRuntime = ['--container-runtime-endpoint', `unix://${home.path}/nowhere.sock`];
    const result = await runAgentToItsEnd({ ...start, args: [...noRuntime, ...(start.args ?? [])] });
    assert.equal(result.timedOut, false);
    assert.equal(result.code, code, result.stderr);
    const said = result.stderr.split('\n').filter((line) => /^(nodeward|error):/.test(line));
    assert.equal(said.length, 1, result.stderr);
    assert.match(said[0] ?? '', message);
    assert.doesNotMatch(result.stderr, /^\s+at /m);
    assert.equal(result.stdout, '');
    assert.deepEqual(await processesNaming(start.rootDir), []);
  }

  async function withTakenPort(use: (port: string) => Promise<void>): Promise<void> {
    await using server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await use(String(address.port));
  }

  test('the agent’s port is taken', () =>
    withTakenPort((port) =>
      refuses(exitCodes.address, new RegExp(`the agent cannot listen on 0\\.0\\.0\\.0:${port}: .*--port$`), {
        rootDir: join(home.path, 'agent-port'),
        args: ['--port', port],
      }),
    ));

  test('the API’s port is taken', () =>
    withTakenPort((port) =>
      refuses(
        exitCodes.address,
        new RegExp(`the API cannot listen on 127\\.0\\.0\\.1:${port}: .*--secure-port$`),
        {
          rootDir: join(home.path, 'api-port'),
          args: ['--secure-port', port],
        },
      ),
    ));

  test('the agent’s address is not of this machine', () =>
    refuses(
      exitCodes.address,
      /cannot listen on 203\.0\.113\.7:\d+: this machine has no such address; .*--address$/,
      {
        rootDir: join(home.path, 'address'),
        args: ['--address', '203.0.113.7'],
      },
    ));

  test('flags that are wrong', async () => {
    const rootDir = join(home.path, 'flags');
    const wrong: readonly (readonly [string[], RegExp])[] = [
      [['--no-such-flag'], /unknown option '--no-such-flag'/],
      [['--port', '65536'], /'--port <port>' argument '65536' is invalid\. It must be a port/],
      [['--secure-port'], /'--secure-port <port>' argument missing/],
      [['--embedded-control-plane', 'maybe'], /It must be true or false/],
      [['--storage', 'clay'], /Allowed choices are sqlite, etcd, memory/],
      [['--hostname-override', 'Two Words'], /the node cannot be named "two words"/],
      [['surplus'], /too many arguments/],
      [
        ['--kubeconfig', 'file', '--embedded-control-plane=true'],
        /--kubeconfig and --embedded-control-plane=true exclude each other/,
      ],
    ];
    for (const [args, message] of wrong) await refuses(exitCodes.usage, message, { rootDir, args });
    await assert.rejects(stat(rootDir), { code: 'ENOENT' });
  });

  test('files that are wrong', async () => {
    const rootDir = join(home.path, 'files');
    await refuses(exitCodes.configuration, /nowhere\.yaml/, { rootDir, args: ['--config', '/nowhere.yaml'] });
    await refuses(exitCodes.configuration, /nowhere\.kubeconfig/, {
      rootDir,
      args: ['--kubeconfig', '/nowhere.kubeconfig'],
    });
  });

  test('a store that was made with another group suffix', async () => {
    const rootDir = join(home.path, 'suffix');
    const first = await startAgent({ rootDir, args: ['--group-suffix', 'example.org'] });
    assert.equal((await first.interrupt()).code, 0);
    await refuses(exitCodes.configuration, /example\.org/, { rootDir });
  });
});

describe('scripts/up as an ordinary user', () => {
  let home: TemporaryFolder;
  let checkout: string;
  before(async () => {
    home = await temporaryFolder('up-');
    await runCommand('chmod', ['755', home.path]);
    checkout = await copyCheckout(join(home.path, 'checkout'));
    await mkdir(join(home.path, 'own'));
    await chown(join(home.path, 'own'), nobody, nobody);
  });
  after(() => home[Symbol.asyncDispose]());

  test('works with a root folder of its own', async () => {
    const rootDir = join(home.path, 'own/root');
    const args = ['--container-runtime-endpoint', `unix://${home.path}/nowhere.sock`];
    await using agent = await startAgent({ rootDir, checkout, uid: nobody, args });
    const tool = kubectl(agent.summary.kubeconfig ?? '', home.path);
    await waitFor('the node', async () => / NotReady /.test(await outputOf(tool.run(['get', 'nodes']))));
    assert.equal((await stat(join(rootDir, 'storage/store.sqlite'))).uid, nobody);
    const { code, tookMs } = await agent.interrupt();
    assert.equal(code, 0, agent.process.stderr);
    assert.ok(tookMs < stopMs, `it took ${tookMs} ms`);
  });

  test('a folder that it may not write in is a clear error', async () => {
    const rootDir = join(home.path, 'not-own');
    const result = await runAgentToItsEnd({ rootDir, checkout, uid: nobody });
    assert.equal(result.code, exitCodes.unwritable, result.stderr);
    const [line, ...more] = result.stderr.trim().split('\n');
    assert.deepEqual(more, []);
    assert.match(line ?? '', new RegExp(`^nodeward: .*${rootDir}.*user ${nobody}`));
    assert.deepEqual(await processesNaming(rootDir), []);
  });
});
