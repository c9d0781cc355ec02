/** What a real containerd and the kernel make of the profiles that are resolved here. */
import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Judgement, ResolvedSeccomp } from '../../src/agent/seccomp/index.ts';
import { loadJudge, profileLimitBytes, resolveSeccomp } from '../../src/agent/seccomp/index.ts';
import { createProfileFinder } from '../../src/agent/seccomp/registry/index.ts';
import type { Pod as ApiPod } from '../../src/api/index.ts';
import type { LabContainer, LabContainerd, Pod } from './lab/index.ts';
import { idle, startContainerd } from './lab/index.ts';
import type { ProfileCase } from './seccomp/profile-cases.ts';
import { byChance, depending, handMade, refused, stricter } from './seccomp/profile-cases.ts';

type Wanted = NonNullable<NonNullable<ApiPod['spec']>['securityContext']>['seccompProfile'];

const denying = (...names: string[]) =>
  JSON.stringify({
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [{ names, action: 'SCMP_ACT_ERRNO', errnoRet: 95 }],
  });

describe('seccomp with a real containerd', () => {
  let runtime: LabContainerd;
  let sandbox: Pod;
  let judge: (bytes: Uint8Array) => Judgement;
  let count = 0;
  const folder = () => join(runtime.folder, 'seccomp');

  before(async () => {
    runtime = await startContainerd();
    sandbox = await runtime.startPod();
    judge = await loadJudge();
    await mkdir(folder());
  });
  after(() => runtime[Symbol.asyncDispose]());

  const put = (name: string, text: string) => writeFile(join(folder(), name), text);

  async function resolve(own: Wanted, ofPod?: Wanted, seccompDefault = false) {
    const pod: ApiPod = {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        ...(ofPod === undefined ? {} : { securityContext: { seccompProfile: ofPod } }),
        containers: [
          { name: 'main', ...(own === undefined ? {} : { securityContext: { seccompProfile: own } }) },
        ],
      },
    };
    const find = createProfileFinder({ folder: folder(), judge, limitBytes: profileLimitBytes });
    return await resolveSeccomp(pod, 'main', { seccompDefault, folder: folder(), find });
  }

  async function resolved(...asked: Parameters<typeof resolve>): Promise<ResolvedSeccomp> {
    const found = await resolve(...asked);
    assert.equal(found.type, 'resolved', 'message' in found ? found.message : '');
    assert.ok(found.type === 'resolved');
    return found;
  }

  const local = (localhostProfile: string) => ({ type: 'Localhost', localhostProfile });
  function nextName(): string {
    count += 1;
    return `c${count}`;
  }

  const start = ({ profile }: Pick<ResolvedSeccomp, 'profile'>): Promise<LabContainer> =>
    sandbox.startContainer({ name: nextName(), seccomp: profile, workload: idle() });

  /** 0 none, 2 a filter, as the kernel says of the container's first process. */
  async function mode({ pid }: LabContainer): Promise<string | undefined> {
    return /^Seccomp:\s*(\d)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  }

  test('a denied call is denied, with the errno that the profile says, and others are not', async () => {
    await put('deny.json', denying('mkdir', 'mkdirat'));
    const container = await start(await resolved(local('deny.json')));
    assert.equal(await mode(container), '2');
    const denied = await container.exec('mkdir', '/x');
    assert.equal(denied.exitCode, 1);
    assert.match(denied.stderr, /Operation not supported/); // errno 95
    assert.equal((await container.exec('touch', '/y')).exitCode, 0);

    await put('plain.json', denying('chmod', 'fchmodat', 'fchmodat2').replace(',"errnoRet":95', ''));
    const other = await start(await resolved(undefined, local('plain.json')));
    assert.match((await other.exec('chmod', '600', '/etc')).stderr, /Operation not permitted/);
    assert.equal((await other.exec('mkdir', '/x')).exitCode, 0);
  });

  test('a changed profile is that of the next container, and not of one that runs', async () => {
    await put('changing.json', denying('mkdir', 'mkdirat'));
    const first = await start(await resolved(local('changing.json')));
    await put('.next', denying('chmod', 'fchmodat', 'fchmodat2'));
    await rename(join(folder(), '.next'), join(folder(), 'changing.json'));
    const second = await start(await resolved(local('changing.json')));
    assert.equal((await first.exec('mkdir', '/x')).exitCode, 1);
    assert.equal((await first.exec('chmod', '700', '/etc')).exitCode, 0);
    assert.equal((await second.exec('mkdir', '/x')).exitCode, 0);
    assert.equal((await second.exec('chmod', '700', '/etc')).exitCode, 1);
    await rm(join(folder(), 'changing.json'));
    assert.equal((await first.exec('mkdir', '/x')).exitCode, 1, 'nor when it is gone');
  });

  test('a missing profile is refused here in the words that containerd has for it', async () => {
    const here = await resolve(local('sub/none.json'));
    assert.ok(here.type === 'refused');
    assert.equal(here.reason, 'CreateContainerError');
    const path = join(folder(), 'sub/none.json');
    const there = await start({ profile: { profileType: 2, localhostRef: path } }).then(
      () => 'it was made',
      (error: Error) => error.message,
    );
    assert.equal(`2 UNKNOWN: ${here.message}`, there);
  });

  test('links inside the folder are followed to the file, links out of it are refused before the runtime would follow', async () => {
    await mkdir(join(folder(), '..data'));
    await put('..data/real', denying('mkdir', 'mkdirat'));
    await symlink('..data/real', join(folder(), 'link.json'));
    const found = await resolved(local('link.json'));
    assert.equal(found.profile.localhostRef, join(folder(), '..data/real'));
    assert.equal((await (await start(found)).exec('mkdir', '/x')).exitCode, 1);

    await writeFile(join(runtime.folder, 'outside.json'), denying('chmod'));
    await symlink('../outside.json', join(folder(), 'out.json'));
    for (const name of ['out.json', '../outside.json', join(runtime.folder, 'outside.json')]) {
      assert.equal((await resolve(local(name))).type, 'refused', name);
    }
  });

  test('RuntimeDefault filters, Unconfined does not; what is unset does exactly when seccompDefault is on', async () => {
    const runtimeDefault = { type: 'RuntimeDefault' };
    const unconfined = { type: 'Unconfined' };
    const cases: [string, Parameters<typeof resolve>][] = [
      ['2', [runtimeDefault]],
      ['2', [undefined, runtimeDefault]],
      ['0', [unconfined, runtimeDefault, true]],
      ['2', [runtimeDefault, unconfined]],
      ['0', [undefined, undefined, false]],
      ['2', [undefined, undefined, true]],
    ];
    for (const [expected, asked] of cases) {
      assert.equal(await mode(await start(await resolved(...asked))), expected, JSON.stringify(asked));
    }
  });

  test('an action that there is not is found here; containerd makes the container and fails to start it', async () => {
    await put('wrong.json', '{"defaultAction": "SCMP_ACT_NOPE"}');
    const here = await resolve(local('wrong.json'));
    assert.ok(here.type === 'refused');
    assert.match(here.message, /defaultAction: "SCMP_ACT_NOPE"/);
    const profile = { profileType: 2, localhostRef: join(folder(), 'wrong.json') } as const;
    const made = await sandbox.startContainer({ name: nextName(), seccomp: profile, start: false });
    assert.ok(made.id);
    await assert.rejects(start({ profile }), /SCMP_ACT_NOPE is not a valid action for seccomp/);
  });

  test('a call that there is not is warned of with the nearest one, and containerd takes it without a word', async () => {
    await put('typo.json', denying('mkdri', 'mkdirat'));
    const found = await resolved(local('typo.json'));
    assert.match(found.judgement?.warnings.map(({ message }) => message).join() ?? '', /"mkdri".*mkdir/);
    assert.equal(await mode(await start(found)), '2');
  });

  /** `starts` with a filter, `bare` without one, or why it does not start. */
  async function fate({ text }: ProfileCase): Promise<string> {
    const name = nextName();
    await put(`${name}.json`, text);
    const profile = { profileType: 2, localhostRef: join(folder(), `${name}.json`) } as const;
    try {
      const container = await start({ profile });
      const found = (await mode(container)) === '2' ? 'starts' : 'bare';
      await container.stop(0);
      return found;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  const verdict = ({ text }: ProfileCase) => judge(Buffer.from(text)).errors;

  test('what is called valid starts with a filter', async () => {
    for (const each of handMade) {
      assert.deepEqual(verdict(each), [], each.text);
      assert.equal(await fate(each), 'starts', each.text);
    }
  });

  test('of 40 profiles made by chance, some with flaws, judge and runtime take the same ones', async () => {
    const cases = byChance(40);
    const taken = cases.filter((each) => verdict(each).length === 0);
    assert.ok(taken.length >= 10 && taken.length <= 35, `${taken.length} are valid: they show nothing`);
    for (const each of cases) {
      const expected = taken.includes(each) ? /^starts$/ : /^2 UNKNOWN/;
      assert.match(await fate(each), expected, `${each.text}: ${JSON.stringify(verdict(each))}`);
    }
  });

  test('what is called invalid does not start, or is refused for a reason that is known', async () => {
    for (const each of refused) {
      assert.notDeepEqual(verdict(each), [], each.text);
      assert.match(await fate(each), /^2 UNKNOWN/, each.text);
    }
    for (const each of stricter) {
      assert.notDeepEqual(verdict(each), [], `${each.text}: ${each.stricter}`);
      assert.match(await fate(each), /^(starts|bare)$/, `${each.text}: ${each.stricter}`);
    }
    for (const each of stricter.filter((one) => one.stricter?.includes('without any filter'))) {
      assert.equal(await fate(each), 'bare', each.text);
    }
  });

  test('what is valid and does not start here is so for a reason that lies in the runtime or the machine', async () => {
    for (const each of depending) {
      assert.deepEqual(verdict(each), [], each.text);
      assert.match(await fate(each), /^2 UNKNOWN/, `${each.text}: ${each.depends}`);
    }
  });
});
