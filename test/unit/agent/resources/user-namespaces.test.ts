import assert from 'node:assert/strict';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { HostIds } from '../../../../src/agent/resources/index.ts';
import { readHostIds, UserNamespaces } from '../../../../src/agent/resources/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

const unit = 65_536;
const fine = async () => undefined;

/** A node with folders of pods on its disk; `start` is what a restart of the agent does. */
async function node(hostIds: HostIds = { first: unit, count: 3 * unit }) {
  const home = await temporaryFolder('user-namespaces-');
  const { log, text } = recordedLog();
  const fileOf = (uid: string) => join(home.path, uid, 'userns');
  return {
    ...{ text, fileOf, podsDir: home.path },
    start: (idsPerPod = unit) =>
      new UserNamespaces({
        ...{ podsDir: home.path, idsPerPod, log, random: () => 0 },
        hostIds: async () => hostIds,
      }),
    async pods(...uids: string[]) {
      for (const uid of uids) await mkdir(join(home.path, uid), { recursive: true });
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

describe('ids of pods with user namespaces', () => {
  test('a range of its own for each pod, in its folder as the reference has it', async () => {
    await using at = await node();
    await at.pods('a', 'b');
    const ids = at.start();
    const [a, b] = await Promise.all(['a', 'b'].map((uid) => ids.allocate(uid, fine)));
    assert.deepEqual(a, { hostId: unit, length: unit });
    assert.deepEqual(b, { hostId: 2 * unit, length: unit });
    const mapping = '[{"hostId":65536,"containerId":0,"length":65536}]';
    const text = `{"uidMappings":${mapping},"gidMappings":${mapping}}`;
    assert.equal(await readFile(at.fileOf('a'), 'utf8'), text);
    assert.equal((await stat(at.fileOf('a'))).mode & 0o777, 0o600);
  });

  test('two calls for one pod get one range, and a restart changes none', async () => {
    await using at = await node();
    await at.pods('a', 'b');
    const ids = at.start();
    const [once, twice] = await Promise.all([ids.allocate('a', fine), ids.allocate('a', fine)]);
    assert.deepEqual(once, twice);
    const again = at.start();
    assert.notDeepEqual(await again.allocate('b', fine), once, 'that of the other is taken');
    assert.deepEqual(await again.allocate('a', fine), once);
  });

  test('what another agent has set apart stays, also with another length', async () => {
    await using at = await node();
    await at.pods('a', 'b');
    const mapping = [{ containerId: 0, hostId: unit, length: unit }];
    await writeFile(at.fileOf('a'), JSON.stringify({ uidMappings: mapping, gidMappings: mapping }));
    const ids = at.start(2 * unit);
    assert.deepEqual(await ids.allocate('a', fine), { hostId: unit, length: unit });
    await assert.rejects(
      ids.allocate('b', fine),
      /could not find an empty slot/,
      'only one place of two is left',
    );
  });

  test('given back when the pod has ended, and not given to the next one at once', async () => {
    await using at = await node();
    await at.pods('a', 'b', 'c', 'd');
    const ids = at.start();
    const first = await ids.allocate('a', fine);
    await ids.release('a');
    await ids.release('a');
    await assert.rejects(stat(at.fileOf('a')), { code: 'ENOENT' });
    for (const uid of ['b', 'c']) assert.notDeepEqual(await ids.allocate(uid, fine), first);
    assert.deepEqual(await ids.allocate('d', fine), first);
    await ids.release('never-there');
  });

  test('when there is none left, those count no more whose folders are gone', async () => {
    await using at = await node({ first: unit, count: unit });
    await at.pods('a', 'b');
    const ids = at.start();
    await ids.allocate('a', fine);
    await assert.rejects(
      ids.allocate('b', fine),
      /^Error: create user namespace: could not find an empty slot to allocate a user namespace$/,
    );
    await rm(join(at.podsDir, 'a'), { recursive: true });
    assert.equal((await ids.allocate('b', fine)).hostId, unit);
  });

  test('nothing is set apart for a pod that may have none', async () => {
    await using at = await node();
    await at.pods('a');
    const refusal = async () => {
      throw new Error('the runtime cannot');
    };
    const ids = at.start();
    await assert.rejects(ids.allocate('a', refusal), /the runtime cannot/);
    await assert.rejects(stat(at.fileOf('a')), { code: 'ENOENT' });
    await ids.allocate('a', fine);
    await ids.allocate('a', refusal); // it has one: its containers go on
  });

  const broken: Record<string, string> = {
    'cut off': '{"uidMappings":[{"hostId":65536',
    'of the machine itself': mappings({ hostId: 0 }),
    'not aligned': mappings({ hostId: unit + 1 }),
    'beyond the last id': mappings({ hostId: 2 ** 32 - unit }),
    'without root': mappings({ containerId: 5 }),
    'of two sorts': mappings({}, { hostId: 2 * unit }),
    empty: '{"uidMappings":[],"gidMappings":[]}',
    'too long': mappings({}).padEnd(5000),
  };
  for (const [what, content] of Object.entries(broken)) {
    test(`a file that is ${what} stops its pod and no other`, async () => {
      await using at = await node();
      await at.pods('a', 'b');
      await writeFile(at.fileOf('a'), content);
      const ids = at.start();
      assert.equal((await ids.allocate('b', fine)).length, unit);
      await assert.rejects(ids.allocate('a', fine), new RegExp(at.fileOf('a')));
      assert.match(at.text(), /may be given to another one/);
      await ids.release('a');
      await ids.allocate('a', fine);
    });
  }
});

function mappings(users: object, groups: object = users): string {
  const base = { hostId: unit, containerId: 0, length: unit };
  return JSON.stringify({ uidMappings: [{ ...base, ...users }], gidMappings: [{ ...base, ...groups }] });
}

describe('which ids pods may have', () => {
  async function read(users: string, output: string | (() => Promise<string>), idsPerPod = unit) {
    await using home = await temporaryFolder('sub-ids-');
    const usersFile = join(home.path, 'passwd');
    await writeFile(usersFile, users);
    const asked: string[] = [];
    const run = async (argv: readonly string[]) => {
      asked.push(argv.join(' '));
      return typeof output === 'string' ? output : await output();
    };
    return { ids: await readHostIds({ idsPerPod, usersFile, run }), asked };
  }
  const user = 'root:x:0:0::/:/bin/sh\nkubelet:x:990:990::/:/bin/false\n';

  test('all but those of the machine, unless the user kubelet has subordinate ones', async () => {
    assert.deepEqual(await read('root:x:0:0::/:/bin/sh\n', '0: kubelet 65536 65536\n'), {
      ids: { first: unit, count: 65_534 * unit },
      asked: [],
    });
    assert.deepEqual(await read(user, '0: kubelet 655360 6553600\n'), {
      ids: { first: 655_360, count: 6_553_600 },
      asked: ['kubelet', '-g kubelet'],
    });
    const missing = () =>
      Promise.reject(Object.assign(new Error('spawn getsubids ENOENT'), { code: 'ENOENT' }));
    assert.equal((await read(user, missing)).ids.first, unit);
  });

  test('the last id is in no range', async () => {
    const { first, count } = (await read('', '', 2 * unit)).ids;
    assert.equal(first, 2 * unit);
    assert.ok(first + count < 2 ** 32 && first + count + 2 * unit >= 2 ** 32 - 1);
  });

  const faults: Record<string, [output: string, message: RegExp]> = {
    'no multiple': ['0: kubelet 65537 65536\n', /user assigned ID 65537 is not a multiple of 65536/],
    'with root': ['0: kubelet 0 65536\n', /must be greater or equal to 65536/],
    'too short': ['0: kubelet 65536 1000\n', /IDs length 1000 is not a multiple of 65536/],
    several: ['0: kubelet 65536 65536\n1: kubelet 655360 65536\n', /must give one range/],
    none: ['', /must give one range/],
    'beyond the end': ['0: kubelet 65536 4294901760\n', /beyond the last one/],
  };
  for (const [what, [output, message]] of Object.entries(faults)) {
    test(`subordinate ids that are ${what} are refused`, async () => {
      await assert.rejects(read(user, output), message);
    });
  }

  test('users and groups must have the same', async () => {
    let call = 0;
    const run = async () => `0: kubelet ${++call * unit} ${unit}\n`;
    await assert.rejects(read(user, run), /^Error: mismatched subuids and subgids for user "kubelet"$/);
  });
});
