/** A real agent with its control plane: what it says of the seccomp profiles in its folder, and whom it tells. */
import assert from 'node:assert/strict';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ProfileStatus, SeccompStatus } from '../../src/agent/seccomp/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runSuccessfully, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl } from './lab/index.ts';
import { kubectl } from './lab/index.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { curl, nodeward, startAgent } from './nodeward/index.ts';

const good = (errno: number) =>
  JSON.stringify({
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [{ names: ['mkdir'], action: 'SCMP_ACT_ERRNO', errnoRet: errno }],
  });

interface Told {
  reason: string;
  message: string;
  count: number;
  component: string;
}

before(ensureBuilt);

describe('the agent’s seccomp profiles', () => {
  let home: TemporaryFolder;
  let agent: RunningAgent;
  let tool: Kubectl;
  const rootDir = () => join(home.path, 'root');
  const at = (name: string) => join(rootDir(), 'seccomp', name);

  before(async () => {
    home = await temporaryFolder('seccomp-agent-');
    const runtime = ['--container-runtime-endpoint', `unix://${join(home.path, 'nowhere.sock')}`];
    agent = await startAgent({ rootDir: rootDir(), args: runtime });
    tool = kubectl(join(rootDir(), 'admin.kubeconfig'), home.path);
  });
  after(async () => {
    await agent[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  async function ask(path: string): Promise<string> {
    const answer = await curl(join(rootDir(), 'pki'), `${agent.summary.agent}${path}`, { method: 'GET' });
    assert.equal(answer.code, 200, answer.body);
    return answer.body;
  }
  const status = async (): Promise<SeccompStatus> => JSON.parse(await ask('/seccomp'));
  const becomes = (name: string, what: string, isSo: (profile: ProfileStatus | undefined) => boolean) =>
    waitFor(`${name} to be ${what}`, async () => {
      const { profiles } = await status();
      const found = profiles.find((each) => each.name === name);
      return isSo(found) ? { found } : undefined;
    }).then(({ found }) => found);
  const valid = (name: string) => becomes(name, 'valid', (found) => found?.valid === true);

  async function events(kind: string): Promise<Told[]> {
    const fields = ['--field-selector', `involvedObject.kind=${kind}`];
    const { stdout, stderr, code } = await tool.run(['get', 'events', '-o', 'json', ...fields]);
    assert.equal(code, 0, stderr);
    const items: (Told & { source: { component: string } })[] = JSON.parse(stdout).items;
    return items.map(({ reason, message, count, source }) => ({
      reason,
      message,
      count,
      component: source.component,
    }));
  }
  const told = (kind: string, reason: string, message: RegExp) =>
    waitFor(`an Event ${reason} about a ${kind}`, async () =>
      (await events(kind)).find((event) => event.reason === reason && message.test(event.message)),
    );

  test('are listed as the folder comes, changes and goes', async () => {
    assert.match((await status()).problem ?? '', /missing|does not exist|no such/i);
    await mkdir(at('team'), { recursive: true });
    await writeFile(at('team/audit.json'), good(1));
    const first = await valid('team/audit.json');
    assert.match(first?.digest ?? '', /^sha256:[0-9a-f]{64}$/);
    assert.equal((await status()).problem, undefined);

    await writeFile(at('.next'), '{"defaultAction": "SCMP_ACT_ALOW"}');
    await rename(at('.next'), at('team/audit.json'));
    const broken = await becomes('team/audit.json', 'invalid', (found) => found?.valid === false);
    assert.equal(broken?.errors[0]?.path, 'defaultAction');

    await rename(at('team'), at('crew'));
    await becomes('crew/audit.json', 'there', (found) => found?.valid === false);
    await becomes('team/audit.json', 'gone', (found) => found === undefined);
    await rm(at(''), { recursive: true });
    await becomes('crew/audit.json', 'gone', (found) => found === undefined);
    assert.deepEqual((await status()).profiles, []);
  });

  test('in use are told of on the pod and on the node when they change, break and go', async () => {
    await mkdir(at(''), { recursive: true });
    await writeFile(at('web.json'), good(1));
    await valid('web.json');
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        nodeName: agent.summary.node,
        securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'web.json' } },
        containers: [{ name: 'main', image: 'example.com/web:1' }],
      },
    };
    const applied = await tool.run(['create', '-f', '-'], { input: JSON.stringify(pod) });
    assert.equal(applied.code, 0, applied.stderr);
    const used = await becomes('web.json', 'in use', (found) => (found?.usedBy.length ?? 0) > 0);
    assert.deepEqual(used?.usedBy, [{ namespace: 'default', pod: 'web', container: 'main' }]);

    await writeFile(at('web.json'), good(2));
    const changed = await told('Pod', 'SeccompProfileChanged', /"web\.json" has changed from sha256:/);
    assert.equal(changed.component, 'kubelet');
    assert.match(changed.message, /keep the profile that they were started with/);
    await told('Node', 'SeccompProfileChanged', /named by 1 pod/);
    const listed = await nodeward(['seccomp', 'ls', '--root-dir', rootDir()]);
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stdout, /^web\.json +valid +\d+ +\S+ +default\/web\/main +sha256:/m);

    await writeFile(at('web.json'), '{"defaultAction": 7}');
    await told('Pod', 'SeccompProfileInvalid', /defaultAction/);
    await rm(at('web.json'));
    await told('Pod', 'SeccompProfileMissing', /is not in .*\/seccomp/);
    await told('Node', 'SeccompProfileMissing', /web\.json/);
    const missing = await becomes('web.json', 'missing', (found) => found?.valid === undefined);
    assert.match(missing?.errors[0]?.message ?? '', /not there/);
    await writeFile(at('web.json'), good(1));
    await valid('web.json');
    await rm(at('web.json'));
    await waitFor('the same to be counted, not told anew', async () =>
      (await events('Pod')).some(({ reason, count }) => reason === 'SeccompProfileMissing' && count === 2),
    );
    assert.match(await ask('/metrics'), /nodeward_seccomp_profiles_in_use\{verdict="missing"\} 1/);

    await tool.run(['delete', 'pod', 'web', '--force', '--grace-period=0']);
    await becomes('web.json', 'forgotten', (found) => found === undefined);
  });

  test('on a disk that is read-only and full are judged as any other, and nothing is written', async (t) => {
    await mkdir(at('disk'), { recursive: true });
    await runSuccessfully('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', at('disk')]);
    t.after(() => runSuccessfully('umount', ['--lazy', at('disk')]));
    await writeFile(at('disk/a.json'), good(1));
    await assert.rejects(writeFile(at('disk/fill'), Buffer.alloc(64 * 1024)), /ENOSPC/);
    await runSuccessfully('mount', ['-o', 'remount,ro', at('disk')]);
    await valid('disk/a.json');
  });

  test('FIFOs among them hold up nothing', async () => {
    await mkdir(at(''), { recursive: true });
    for (let each = 0; each < 8; each += 1) await runSuccessfully('mkfifo', [at(`fifo${each}.json`)]);
    await writeFile(at('beside.json'), good(1));
    await valid('beside.json');
    const fifo = await becomes('fifo7.json', 'refused', (found) => found?.errors.length === 1);
    assert.match(fifo?.errors[0]?.message ?? '', /not a regular file/);
    assert.equal(await ask('/healthz'), 'ok');
  });

  test('of AppArmor are named, or it is said that there are none', async () => {
    const loaded: unknown = JSON.parse(await ask('/apparmor'));
    assert.ok(typeof loaded === 'object' && loaded !== null && 'profiles' in loaded && 'enabled' in loaded);
  });
});

test('an agent that stands alone knows what its static pods name', async () => {
  await using home = await temporaryFolder('seccomp-alone-');
  const at = (name: string) => join(home.path, name);
  await mkdir(at('manifests'));
  await mkdir(at('root/seccomp'), { recursive: true });
  await writeFile(at('root/seccomp/there.json'), good(1));
  await writeFile(at('config.yaml'), config(at('manifests')));
  const container = (name: string, localhostProfile: string) => ({
    name,
    image: 'example.com/app:1',
    securityContext: { seccompProfile: { type: 'Localhost', localhostProfile } },
  });
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'app', namespace: 'shop' },
    spec: { containers: [container('one', 'there.json'), container('two', 'not-there')] },
  };
  await writeFile(at('manifests/app.json'), JSON.stringify(pod));
  await using _agent = await startAgent({
    rootDir: at('root'),
    args: [
      ...['--embedded-control-plane=false', '--config', at('config.yaml')],
      ...['--container-runtime-endpoint', `unix://${at('nowhere.sock')}`],
    ],
  });
  const list = await waitFor('both profiles to be judged', async () => {
    const { code, stdout } = await nodeward(['seccomp', 'ls', '--root-dir', at('root')]);
    return code === 0 && /^not-there +missing/m.test(stdout) && /^there.json +valid/m.test(stdout) && stdout;
  });
  assert.match(list, /^not-there +missing +- +- +shop\/app-\S+\/two +-$/m);
  assert.match(list, /^there\.json .*shop\/app-\S+\/one +sha256:/m);
});

const config = (staticPodPath: string) => `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${staticPodPath}
`;
