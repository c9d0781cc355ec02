import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { sealFile } from '../../../../src/agent/checkpoint/sealing/index.ts';
import { SnapshotWriter } from '../../../../src/apiserver/storage-admin/snapshot-format.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { checkpoint, tar } from '../../agent/checkpoint/archive/archives.ts';
import { nodeWith } from '../../apiserver/node-proxy/agent.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';
import { exampleAnswers, exampleId } from './example-node.ts';

/** A command line for every command that has a result; a function where each run needs names of its own. */
export type Commands = Readonly<Record<string, (fresh: (name: string) => string) => string[]>>;

const profile = '{"defaultAction":"SCMP_ACT_ALLOW"}';
const pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}';
const role =
  '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"b"},' +
  '"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},' +
  '"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"jane"}]}';

/** A control plane, a node whose agent answers the same each time, a store, and files. */
export async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const at = (name: string) => join(path, name);
  const server = stack.use(await startServer());
  const agent = await nodeWith(server, 'node-a', (request, response) => {
    const [target = ''] = (request.url ?? '').split('?');
    const answer = exampleAnswers[`${request.method} ${decodeURIComponent(target)}`];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
  });
  stack.use(agent);
  stack.use(await controlSocket(path));
  await writeFiles(at);
  await server.admin.must('POST', '/api/v1/namespaces/default/events', {
    metadata: { name: 'node-a.1', namespace: 'default' },
    involvedObject: { kind: 'Node', name: 'node-a' },
    type: 'Warning',
    reason: 'NodeNotReady',
    message: 'it went',
    lastTimestamp: '2026-01-02T03:04:05Z',
  });
  const kubeconfig = ['--kubeconfig', server.running.kubeconfig];
  const { stdout } = await runCommandLine(['token', 'create', ...kubeconfig, '-o', 'name']);
  let tokens = [stdout.trim()];
  const commands = commandLines(path, kubeconfig, () => tokens.splice(0, 1));
  const more = stack.move();
  return {
    commands,
    /** Makes so many tokens that can be deleted. */
    async makeTokens(count: number) {
      const made = Array.from({ length: count }, () =>
        runCommandLine(['token', 'create', ...kubeconfig, '-o', 'name']),
      );
      tokens = (await Promise.all(made)).map((end) => end.stdout.trim());
    },
    path,
    [Symbol.asyncDispose]: () => more.disposeAsync(),
  };
}

/** The command lines; `takeToken` gives a token that can be deleted. */
function commandLines(path: string, kubeconfig: readonly string[], takeToken: () => string[]): Commands {
  const at = (name: string) => join(path, name);
  const store = ['--root-dir', at('store')];
  return {
    'access explain': () => ['get', 'pods', ...kubeconfig],
    'access who-can': () => ['get', 'pods', ...kubeconfig],
    'access what-can': () => ['jane', ...kubeconfig],
    'access diff': () => ['-f', at('role.json'), ...kubeconfig],
    'access trim': () => ['jane', '--audit-log', at('audit.log'), '--offline'],
    'checkpoint create': () => ['shop/web/main', ...kubeconfig],
    'checkpoint ls': () => [...kubeconfig],
    'checkpoint get': () => ['web/main', ...kubeconfig],
    'checkpoint download': (fresh) => [exampleId, '--output-file', fresh('copy'), ...kubeconfig],
    'checkpoint rm': () => ['latest', ...kubeconfig],
    'checkpoint pin': () => ['checkpoint-web', ...kubeconfig],
    'checkpoint unpin': () => [exampleId, ...kubeconfig],
    'checkpoint verify': () => [exampleId, ...kubeconfig],
    'checkpoint prune': () => [...kubeconfig],
    'checkpoint inspect': () => [at('archive.tar')],
    'checkpoint diff': () => [at('archive.tar'), at('other.tar')],
    'checkpoint image': (fresh) => [at('archive.tar'), '--output-file', fresh('layout')],
    'checkpoint open': (fresh) => [at('sealed.age'), '-i', at('key'), '--output-file', fresh('plain')],
    'checkpoint keygen': (fresh) => ['--output-file', fresh('own-key')],
    'config view': () => ['--config', at('config.yaml')],
    'config check': () => ['--config', at('config.yaml')],
    'devices ls': () => [...kubeconfig],
    doctor: () => ['--only', 'swap,cgroup-version', '--root-dir', path],
    'plugins ls': () => [...kubeconfig],
    'pods ls': () => [...kubeconfig],
    'pods explain': () => ['shop/web', ...kubeconfig],
    history: () => ['node-a', ...kubeconfig],
    status: () => [...kubeconfig, '--root-dir', path],
    top: () => [...kubeconfig],
    reload: () => ['--root-dir', path],
    'seccomp ls': () => [...kubeconfig],
    'seccomp check': () => [at('profile.json')],
    'seccomp resolve': () => [at('pod.json'), '--root-dir', path],
    'seccomp explain': () => [at('profile.json'), 'read'],
    'storage stats': () => store,
    'storage check': () => store,
    'storage snapshot': (fresh) => [fresh('snapshot'), ...store],
    'storage defrag': () => store,
    'storage restore': (fresh) => [at('snapshot'), '--root-dir', fresh('restored')],
    'token create': () => [...kubeconfig],
    'token list': () => [...kubeconfig],
    'token delete': () => [...takeToken(), ...kubeconfig],
    version: () => [],
  };
}

async function writeFiles(at: (name: string) => string): Promise<void> {
  await writeFile(at('profile.json'), profile);
  await writeFile(at('pod.json'), pod);
  await writeFile(at('role.json'), role);
  await writeFile(at('audit.log'), '');
  await writeFile(
    at('config.yaml'),
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 7\n',
  );
  await writeFile(at('archive.tar'), tar(checkpoint()));
  await writeFile(at('other.tar'), tar(checkpoint({ log: 'one\ntwo\n' })));
  const { stdout: recipient } = await runCommandLine(['checkpoint', 'keygen', '--output-file', at('key')]);
  const signal = new AbortController().signal;
  await sealFile({ from: at('archive.tar'), to: at('sealed.age'), recipients: [recipient.trim()] }, signal);
  const writer = new SnapshotWriter();
  const header = { groupSuffix: 'k8s.io', revision: 1 };
  const value = Buffer.from(
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}',
  );
  const one = { key: '/registry/configmaps/default/a', revision: 1, createRevision: 1, value };
  await writeFile(
    at('snapshot'),
    Buffer.concat([writer.header(header), writer.objects([one]), writer.trailer()]),
  );
  await mkdir(at('store'), { mode: 0o700 });
  const restored = await runCommandLine(['storage', 'restore', at('snapshot'), '--root-dir', at('store')]);
  if (restored.code !== 0) throw new Error(restored.stderr);
}

/** An agent that has reloaded its configuration, whenever it is asked. */
async function controlSocket(rootDir: string): Promise<AsyncDisposable> {
  const answer = `${JSON.stringify({ ok: true, applied: ['maxPods'], pending: [], warnings: [] })}\n`;
  const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
  await new Promise<void>((resolve) => server.listen(join(rootDir, 'agent.sock'), resolve));
  return {
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
