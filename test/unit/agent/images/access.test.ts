import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { needsVerification, verificationPolicies } from '../../../../src/agent/images/access/policy.ts';
import { parseImageName } from '../../../../src/agent/images/image-name.ts';
import type { AccessSettings } from '../../../../src/agent/images/index.ts';
import { ImageAccess } from '../../../../src/agent/images/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { describeState, podOf, secretsFrom, startImageLab, wishOf } from './image-lab.ts';

const secrets = secretsFrom((_, name) => {
  const auths = { 'r.example': { username: name, password: `${name}-password` } };
  return { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
});

const name = 'r.example/app:1';
const wish = (pod: string, secret: string | undefined, change: Partial<ReturnType<typeof wishOf>> = {}) =>
  wishOf({
    image: name,
    pod: podOf(pod, { imagePullSecrets: secret === undefined ? [] : [{ name: secret }] }),
    ...change,
  });

async function openAccess(folder: string, settings: Partial<AccessSettings> = {}) {
  return await ImageAccess.open({
    settings: { policy: 'NeverVerifyPreloadedImages', allowlist: [], ...settings },
    path: join(folder, 'images', 'pulled.json'),
    clock: systemClock,
    log: silentLogger(),
  });
}

/** Its state as soon as it is neither looked for nor pulled. */
async function settled(lab: ReturnType<typeof startImageLab>, asked: ReturnType<typeof wish>) {
  return await waitFor('the image', async () => {
    await lab.clock.advance(0);
    const state = lab.room.want(asked);
    return state.state !== 'pulling' && describeState(state);
  });
}

describe('an image that one pod pulled with its credentials', () => {
  test('is for those who have them, also after a restart; others ask the registry', async () => {
    await using folder = await temporaryFolder();
    {
      await using access = await openAccess(folder.path);
      using lab = startImageLab({ secrets, access });
      lab.service.answerPull = (pull) =>
        pull.end(pull.auth === undefined ? new Error('no credentials') : undefined);
      assert.match(await settled(lab, wish('a', 'alice')), /^present/);
      assert.match(await settled(lab, wish('b', 'alice')), /^present/);
      assert.equal(lab.service.pulls.length, 1);
      assert.equal(await settled(lab, wish('c', undefined)), 'ErrImagePull: no credentials');
      assert.match(
        await settled(lab, wish('d', undefined, { pullPolicy: 'Never' })),
        /^ErrImageNeverPull: Container image "r\.example\/app:1" is not present with pull policy of Never/,
      );
      assert.match(await settled(lab, wish('e', 'alice', { pullPolicy: 'Never' })), /^present/);
      assert.match(await settled(lab, wish('f', 'bob')), /^present/);
      assert.equal(lab.service.pulls.length, 3);
    }
    await using access = await openAccess(folder.path);
    using lab = startImageLab({ secrets, access });
    lab.service.add(name);
    for (const user of ['alice', 'bob']) assert.match(await settled(lab, wish(user, user)), /^present/);
    assert.deepEqual(lab.service.pulls, []);
    lab.room.want(wish('z', undefined));
    await waitFor('the pull', async () => {
      await lab.clock.advance(0);
      return lab.service.pulls.length === 1;
    });
    const text = await readFile(join(folder.path, 'images', 'pulled.json'), 'utf8');
    assert.doesNotMatch(text, /alice|password/);
  });

  test('is for all when it needs none, and stays theirs when nothing is known of it', async () => {
    await using folder = await temporaryFolder();
    await using access = await openAccess(folder.path);
    using lab = startImageLab({ secrets, access });
    lab.service.add(name);
    assert.match(await settled(lab, wish('a', undefined)), /^present/);
    assert.deepEqual(lab.service.pulls, []);
    lab.service.answerPull = (pull) => pull.end();
    assert.match(await settled(lab, wish('b', undefined, { pullPolicy: 'Always' })), /^present/);
    assert.match(await settled(lab, wish('c', undefined)), /^present/);
    assert.equal(lab.service.pulls.length, 1);
  });

  test('counts as pulled when the agent died meanwhile, or nobody waited for its end', async () => {
    await using folder = await temporaryFolder();
    {
      await using access = await openAccess(folder.path);
      using lab = startImageLab({ secrets, access });
      lab.room.want(wish('a', 'alice'));
      await waitFor('the pull', async () => {
        await lab.clock.advance(0);
        return lab.service.pulls.length === 1;
      });
      lab.room.forget('uid-a');
      await lab.clock.advance(0);
    }
    await using access = await openAccess(folder.path);
    using lab = startImageLab({ secrets, access });
    lab.service.add(name);
    lab.service.answerPull = (pull) => pull.end(new Error('no credentials'));
    assert.equal(await settled(lab, wish('b', undefined)), 'ErrImagePull: no credentials');
  });

  test('is not pulled when nobody waits any more once that is on disk', async () => {
    await using folder = await temporaryFolder();
    await using access = await openAccess(folder.path);
    using lab = startImageLab({ secrets, access });
    lab.room.want(wish('a', undefined));
    await waitFor('the note of the pull', async () => {
      await lab.clock.advance(0);
      return access.generation > 0;
    });
    lab.room.forget('uid-a');
    await waitFor('the note to be on disk', () =>
      readFile(join(folder.path, 'images', 'pulled.json'), 'utf8'),
    );
    await lab.clock.advance(1000);
    assert.ok(lab.service.pulls.every(({ signal }) => signal?.aborted));
    lab.room.want(wish('b', undefined));
    await waitFor('the pull of another', async () => {
      await lab.clock.advance(0);
      return lab.service.pulls.some(({ signal }) => signal?.aborted === false);
    });
  });

  test('is forgotten when it is gone, and never by a list that is older than the pull', async () => {
    await using folder = await temporaryFolder();
    await using access = await openAccess(folder.path);
    const image = parseImageName(name);
    const before = access.generation;
    const credential = { username: 'u', password: 'p' };
    await access.begun(image);
    await access.ended(image, { id: 'id', credential });
    const local = { id: 'id', names: [image.canonical], sizeBytes: 1, isPinned: false, user: {} };
    await access.keepOnly([], before);
    await access.keepOnly([local], access.generation);
    assert.equal(access.isOpen('id', image), false);
    assert.equal(access.isOpenTo([credential], 'id', image), true);
    assert.equal(access.isOpenTo([{ ...credential, password: 'q' }], 'id', image), false);
    await access.keepOnly([], access.generation);
    assert.equal(access.isOpen('id', image), true);
  });
});

test('which images are verified', () => {
  const allowlist = ['r.example/team/*', 'r.example/app'];
  const verified = (repository: string, isPulled: boolean) =>
    verificationPolicies.filter((policy) => needsVerification({ policy, allowlist }, repository, isPulled));
  assert.deepEqual(verified('r.example/other', true), [
    'NeverVerifyPreloadedImages',
    'NeverVerifyAllowlistedImages',
    'AlwaysVerify',
  ]);
  assert.deepEqual(verified('r.example/other', false), ['NeverVerifyAllowlistedImages', 'AlwaysVerify']);
  for (const repository of ['r.example/team/a', 'r.example/team/a/b', 'r.example/app'])
    assert.deepEqual(verified(repository, false), ['AlwaysVerify']);
  for (const repository of ['r.example/teams', 'r.example/app/x', 'r.example/apps'])
    assert.deepEqual(verified(repository, false), ['NeverVerifyAllowlistedImages', 'AlwaysVerify']);
});
