import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { exitCodes } from '../../../../src/base/index.ts';
import { renderKubeconfig } from '../../../../src/client/index.ts';
import { configFiles } from '../../agent/config/config-files.ts';
import { sampleAgent, startSocket } from '../../agent/config/control-socket/socket-bench.ts';
import { runCommandLine } from '../run-command.ts';

const certificate = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
const files = { 'etc/config.yaml': 'maxPods: 33\n', 'etc/config.d/20.conf': 'nodeStatusMaxImages: 7\n' };

/** A machine with the configuration of an installed agent, and a root folder of its own. */
async function machine(given: Record<string, string> = files) {
  const folder = await configFiles(given);
  const etc = join(folder.path, 'etc');
  const run = (args: string[]) => runCommandLine(args, { env: { NODEWARD_ETC_DIR: etc } });
  const sources = { config: join(etc, 'config.yaml'), configDir: join(etc, 'config.d') };
  return { ...sources, rootDir: folder.path, run, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
}

describe('nodeward config check and view, which looked at defaults and called them good', () => {
  test('look at the files of the agent that runs, with its flags, and say so', async () => {
    await using at = await machine();
    const { config, configDir, rootDir } = at;
    const sources = { config, configDir, flags: { port: 10350 }, standalone: false };
    await using _socket = await startSocket(rootDir, { agent: { ...sampleAgent(rootDir), sources } });
    const view = await at.run(['config', 'view', '--root-dir', rootDir, '--address', '192.0.2.1']);
    for (const line of ['maxPods: 33', 'nodeStatusMaxImages: 7', 'port: 10350', 'address: "192.0.2.1"'])
      assert.match(view.stdout, new RegExp(`^${line}$`, 'm'));
    const looked = `looking at ${config} and ${configDir}, of the agent that runs (process 4280)\n`;
    assert.equal(view.stderr, looked);
    const check = await at.run(['config', 'check', '--root-dir', rootDir]);
    assert.deepEqual([check.stdout, check.stderr], ['the configuration is good\n', looked]);
    const json = await at.run(['config', 'view', '--root-dir', rootDir, '-o', 'json']);
    assert.deepEqual([json.stderr, JSON.parse(json.stdout).maxPods], ['', 33]);
  });

  test('look at the installed files where no agent runs, and tell what is wrong there', async () => {
    await using at = await machine({ ...files, 'etc/config.yaml': 'maxPodz: 3\n' });
    const { code, stdout, stderr } = await at.run(['config', 'check', '--root-dir', '/var/lib/nodeward']);
    assert.equal(code, exitCodes.configuration);
    assert.equal(stdout, '');
    const [looked, problem] = stderr.split('\n');
    assert.equal(looked, `looking at ${at.config} and ${at.configDir}, of the installed agent`);
    assert.match(problem ?? '', /config\.yaml:3:1: maxPodz: unknown field/);
  });

  test('look at the files of the flags, and at no others', async () => {
    await using at = await machine();
    const { stdout, stderr } = await at.run(['config', 'view', '--config-dir', at.configDir]);
    assert.match(stdout, /^maxPods: 110$/m);
    assert.equal(stderr, `looking at ${at.configDir}, of the flags\n`);
  });

  test('say that there is no file where there is none', async () => {
    await using at = await machine();
    const { stderr } = await at.run(['config', 'check', '--root-dir', at.rootDir]);
    assert.equal(stderr, 'looking at no file, only the defaults and flags\n');
  });
});

describe('nodeward doctor, which told the user to stop his own agent', () => {
  test('knows the port that is held by the agent, by its flags and its process', async () => {
    await using at = await machine();
    const { rootDir } = at;
    await using server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const { port } = address;
    const agent = {
      ...sampleAgent(rootDir),
      pid: process.pid,
      sources: { flags: { port }, standalone: false },
      urls: { agent: `https://127.0.0.1:${port}`, api: `https://127.0.0.1:${port}` },
    };
    const only = ['doctor', '--only', 'agent-port,api-port', '--root-dir', rootDir];
    const unknown = await at.run([...only, '--port', String(port), '--secure-port', '0']);
    assert.equal(unknown.code, exitCodes.failed, 'a process that is no agent');
    await using _socket = await startSocket(rootDir, { agent });
    const { code, stdout, stderr } = await at.run(only);
    assert.equal(code, exitCodes.ok, stdout);
    assert.ok(stdout.includes(`${port}: the agent (process ${process.pid}) listens there`), stdout);
    assert.doesNotMatch(stdout, /stop that process/);
    assert.match(
      stderr,
      /^examining .*, only the defaults and flags of the agent that runs \(process \d+\)$/m,
    );
  });

  test('--only agent-port uses the configured port of the installed agent', async () => {
    await using at = await machine({
      'etc/config.yaml': 'port: 0\n',
      'etc/config.d/a.conf': 'port: 41999\n',
    });
    const { stdout } = await at.run(['doctor', '--only', 'agent-port', '--root-dir', '/var/lib/nodeward']);
    assert.match(stdout, /port of the agent: 41999 is free/);
  });
});

describe('the installed agent, while it does not run', () => {
  const env =
    'A=b\nNODEWARD_FLAGS="--port=41998 --node-labels a=b --audit-log-path=/x"\nNODEWARD_JOIN_FLAGS=--bootstrap-kubeconfig=/nowhere/b\n';
  const installed = ['--root-dir', '/var/lib/nodeward'];

  test('is examined with the flags in agent.env, below those of the command', async () => {
    await using at = await machine(files);
    await writeFile(join(at.rootDir, 'etc/agent.env'), env);
    const doctor = await at.run(['doctor', '--only', 'agent-port,api-port', ...installed]);
    assert.match(doctor.stdout, /port of the agent: 41998 is free/);
    assert.match(doctor.stdout, /control plane: none is opened here/, 'a node that joins');
    const other = await at.run(['doctor', '--only', 'agent-port', '--port', '41997', ...installed]);
    assert.match(other.stdout, /41997 is free/);
    const view = await at.run(['config', 'view', '--origin', ...installed]);
    assert.match(view.stdout, /^port +41998 +flag --port/m);
    assert.match(view.stdout, /^maxPods +33 /m);
  });

  test('is looked for in the root folder that agent.env names', async () => {
    await using at = await machine(files);
    const { rootDir } = at;
    for (const line of [
      `NODEWARD_ROOT_DIR=${rootDir}`,
      `NODEWARD_FLAGS="--root-dir=${rootDir} --port 41998"`,
    ]) {
      await writeFile(join(rootDir, 'etc/agent.env'), `${line}\n`);
      const doctor = await at.run(['doctor', '--only', 'agent-port']);
      assert.match(
        doctor.stderr,
        new RegExp(`^examining ${rootDir} with ${at.config} and .*installed agent$`, 'm'),
      );
      assert.match((await at.run(['config', 'check'])).stderr, /^looking at .*, of the installed agent$/m);
    }
    await using _socket = await startSocket(rootDir, { agent: sampleAgent(rootDir) });
    assert.match((await at.run(['config', 'check'])).stderr, /of the agent that runs \(process 4280\)$/m);
    const given = await at.run(['doctor', '--only', 'agent-port', '--root-dir', '/nowhere']);
    assert.match(given.stderr, /^examining \/nowhere with no file, only the defaults and flags$/m);
  });

  test('seccomp resolve takes seccompDefault from its configuration, and says so', async () => {
    await using at = await machine({ 'etc/config.yaml': 'seccompDefault: true\n' });
    const pod = join(at.rootDir, 'pod.json');
    const spec = { containers: [{ name: 'main', image: 'a' }] };
    await writeFile(pod, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec }));
    const { stdout, stderr } = await at.run(['seccomp', 'resolve', pod, ...installed]);
    assert.match(stdout, /^web +main +RuntimeDefault +default /m);
    assert.equal(stderr, `looking at ${at.config}, of the installed agent\n`);
  });

  test('an agent.env that cannot be read leaves the usual root folder', async () => {
    await using at = await machine(files);
    await mkdir(join(at.rootDir, 'etc/agent.env'));
    const { stderr } = await at.run(['doctor', '--only', 'agent-port']);
    assert.match(stderr, /^examining \/var\/lib\/nodeward with /m);
  });

  test('flags in agent.env that an agent would refuse are a warning', async () => {
    await using at = await machine(files);
    await writeFile(join(at.rootDir, 'etc/agent.env'), 'NODEWARD_FLAGS=--port=none\n');
    const { stderr } = await at.run(['config', 'check', ...installed]);
    assert.match(stderr, /^warning: .*agent\.env: .*--port <port>.*It must be a port/m);
  });
});

describe('token and access on a node whose control plane is elsewhere', () => {
  test('say where it is', async () => {
    await using at = await machine({});
    const { rootDir } = at;
    const kubeconfig = join(rootDir, 'node.kubeconfig');
    const entry = { server: 'https://cp.example:6443', ca: certificate, token: 'x', user: 'node' };
    await writeFile(kubeconfig, renderKubeconfig(entry));
    const controlPlane = { mode: 'joining', kubeconfig, bootstrapKubeconfig: '/b' } as const;
    await using _socket = await startSocket(rootDir, { agent: { ...sampleAgent(rootDir), controlPlane } });
    for (const args of [
      ['token', 'list'],
      ['access', 'what-can'],
    ]) {
      const { code, stderr } = await at.run([...args, '--root-dir', rootDir]);
      assert.equal(code, exitCodes.configuration);
      assert.match(
        stderr,
        /there is no .*admin\.kubeconfig: the control plane .* is https:\/\/cp\.example:6443/,
      );
    }
  });
});

describe('plugins ls, devices ls, checkpoint and seccomp ls', () => {
  test('use the credentials of the agent that runs where its root folder has none', async () => {
    await using at = await machine({});
    const { rootDir } = at;
    const own = join(rootDir, 'own.kubeconfig');
    await writeFile(own, 'kind: Wrong\n');
    await using _socket = await startSocket(rootDir, { agent: { ...sampleAgent(rootDir), kubeconfig: own } });
    for (const args of [
      ['plugins', 'ls'],
      ['devices', 'ls'],
      ['checkpoint', 'ls'],
      ['seccomp', 'ls'],
    ]) {
      const { stderr } = await at.run([...args, '--root-dir', rootDir]);
      assert.match(stderr, /kubeconfig .*own\.kubeconfig: kind must be Config/, args.join(' '));
    }
  });
});
