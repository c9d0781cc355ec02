import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { describeState, podOf, secretsFrom, startImageLab, wishOf } from './image-lab.ts';

const parallel = (maxParallel: number | undefined) => ({
  pulls: { maxParallel, ratePerSecond: 0, burst: 0 },
});
const of = (pod: string, image: string) => wishOf({ pod: podOf(pod), image });

const secretOf = (user: string, host = 'r.example') => {
  const auths = { [host]: { username: user, password: `${user}-password` } };
  return { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
};

/** Secrets by name; of `hang` nothing is ever known, `broken` is refused. */
const secrets = secretsFrom((namespace, name) => {
  assert.equal(namespace, 'shop');
  if (name === 'hang') return 'waiting';
  if (name === 'broken') return 'refused';
  if (name === 'useless') return { other: 'x' };
  return name.startsWith('user') ? secretOf(name) : undefined;
});
const private1 = (...secrets: string[]) =>
  wishOf({
    image: 'r.example/app:1',
    pod: podOf('p', { imagePullSecrets: secrets.map((name) => ({ name })) }),
  });

describe('pulls', () => {
  test('one at a time by default: the others wait in the order in which they came, and say so', async () => {
    using lab = startImageLab(parallel(1));
    for (const name of ['a', 'b', 'c']) lab.room.want(of(name, `${name}:1`));
    await lab.clock.advance(1000);
    const states = () => ['a', 'b', 'c'].map((name) => describeState(lab.room.want(of(name, `${name}:1`))));
    assert.deepEqual(states(), [
      'pulling Pulling image "a:1"',
      'pulling Waiting to pull image "b:1": other images are being pulled',
      'pulling Waiting to pull image "c:1": other images are being pulled',
    ]);
    assert.deepEqual(
      lab.service.pulls.map(({ image }) => image),
      ['a:1'],
    );
    lab.service.pulls[0]?.end();
    await lab.clock.advance(2000);
    assert.equal(states()[1], 'pulling Pulling image "b:1"');
    lab.service.pulls[1]?.end();
    await lab.clock.advance(0);
    assert.ok(lab.texts().some((text) => /pulled image "b:1" in 2s \(3s including waiting\)/.test(text)));
  });

  test('several at a time, as many as may', async () => {
    for (const [bound, expected] of [
      [2, 2],
      [undefined, 5],
    ] as const) {
      using lab = startImageLab(parallel(bound));
      for (const name of ['a', 'b', 'c', 'd', 'e']) lab.room.want(of(name, `${name}:1`));
      await lab.clock.advance(0);
      assert.equal(lab.service.pulls.length, expected);
    }
  });

  test('of one image are one, for all who wait', async () => {
    using lab = startImageLab();
    for (const name of ['a', 'b', 'c']) lab.room.want(of(name, 'web:1'));
    await lab.clock.advance(0);
    lab.service.pulls[0]?.end();
    await lab.clock.advance(0);
    assert.equal(lab.service.pulls.length, 1);
    for (const name of ['a', 'b', 'c']) assert.equal(lab.room.want(of(name, 'web:1')).state, 'present');
    assert.deepEqual(new Set(lab.changes), new Set(['uid-a', 'uid-b', 'uid-c']));
  });

  test('count once each, with what came of them; those that nobody waited for do not', async () => {
    const ended: string[] = [];
    const pulled: number[] = [];
    const metrics = {
      ended: (result: string) => void ended.push(result),
      pulled: (seconds: number) => void pulled.push(seconds),
    };
    using lab = startImageLab({ ...parallel(undefined), metrics });
    for (const name of ['a', 'b']) lab.room.want(of(name, 'web:1'));
    lab.room.want(of('c', 'other:1'));
    lab.room.want(of('d', 'gone:1'));
    await lab.clock.advance(2000);
    lab.room.forget('uid-d');
    for (const { image, end } of lab.service.pulls)
      if (image === 'web:1') end();
      else if (image === 'other:1') end(new RuntimeError('failed', 'no such image'));
    await lab.clock.advance(0);
    assert.deepEqual(
      [ended.toSorted(), pulled],
      [
        ['done', 'failed'],
        [2, 2],
      ],
    );
  });

  test('end when the last who waits has gone, and not before', async () => {
    using lab = startImageLab();
    for (const name of ['a', 'b']) lab.room.want(of(name, 'web:1'));
    await lab.clock.advance(0);
    const [pull] = lab.service.pulls;
    lab.room.forget('uid-a');
    await lab.clock.advance(0);
    assert.equal(pull?.signal?.aborted, false);
    lab.room.forget('uid-b');
    await lab.clock.advance(0);
    assert.equal(pull?.signal?.aborted, true);
    lab.room.want(of('c', 'other:1'));
    await lab.clock.advance(0);
    assert.equal(lab.service.pulls.length, 2, 'the slot is free again');
    const changes = lab.changes.length;
    await lab.clock.advance(600_000);
    assert.ok(!lab.changes.slice(changes).some((uid) => uid !== 'uid-c'), 'nothing is heard of who has gone');
  });

  test('that wait and are wanted no more never start', async () => {
    using lab = startImageLab(parallel(1));
    for (const name of ['a', 'b', 'c']) lab.room.want(of(name, `${name}:1`));
    await lab.clock.advance(0);
    lab.room.forget('uid-b');
    lab.service.pulls[0]?.end();
    await lab.clock.advance(0);
    assert.deepEqual(
      lab.service.pulls.map(({ image }) => image),
      ['a:1', 'c:1'],
    );
  });

  test('beyond the rate fail, and are tried again later', async () => {
    using lab = startImageLab({ pulls: { maxParallel: undefined, ratePerSecond: 1, burst: 2 } });
    lab.service.answerPull = (pull) => pull.end();
    for (const name of ['a', 'b', 'c']) lab.room.want(of(name, `${name}:1`));
    await lab.clock.advance(0);
    assert.equal(describeState(lab.room.want(of('c', 'c:1'))), 'ErrImagePull: pull QPS exceeded');
    await lab.clock.advance(10_000);
    assert.equal(lab.room.want(of('c', 'c:1')).state, 'present');
  });

  test('all end with the room', async () => {
    const lab = startImageLab(parallel(undefined));
    for (const name of ['a', 'b']) lab.room.want(of(name, `${name}:1`));
    await lab.clock.advance(0);
    lab.room[Symbol.dispose]();
    await lab.clock.advance(0);
    assert.deepEqual(
      lab.service.pulls.map(({ signal }) => signal?.aborted),
      [true, true],
    );
    assert.equal(lab.clock.sleepers, 0);
  });
});

describe('credentials', () => {
  const denied = () => new RuntimeError('failed', '401 Unauthorized');

  test('are tried in the order of the secrets until one is let in', async () => {
    using lab = startImageLab({ secrets });
    lab.service.answerPull = (pull) => pull.end(pull.auth?.startsWith('user3') ? undefined : denied());
    lab.room.want(private1('user1', 'user2', 'user3', 'user4'));
    await lab.clock.advance(0);
    assert.deepEqual(
      lab.service.pulls.map(({ auth }) => auth?.split(':')[0]),
      ['user1', 'user2', 'user3'],
    );
    assert.equal(lab.room.want(private1()).state, 'present');
  });

  test('when none is let in, each answer is told once', async () => {
    using lab = startImageLab({ secrets });
    lab.service.answerPull = (pull) =>
      pull.end(pull.auth?.startsWith('user3') ? new RuntimeError('failed', 'other') : denied());
    const wish = private1('user1', 'user2', 'user3');
    lab.room.want(wish);
    await lab.clock.advance(0);
    assert.equal(describeState(lab.room.want(wish)), 'ErrImagePull: [401 Unauthorized, other]');
  });

  test('a pull with other ones is a pull of its own', async () => {
    using lab = startImageLab({ secrets, ...parallel(undefined) });
    lab.room.want(private1('user1'));
    const other = { ...podOf('q'), spec: { containers: [], imagePullSecrets: [{ name: 'user2' }] } };
    lab.room.want(wishOf({ image: 'r.example/app:1', pod: other }));
    lab.room.want(wishOf({ image: 'r.example/app:1', pod: podOf('without') }));
    await lab.clock.advance(0);
    assert.deepEqual(
      lab.service.pulls.map(({ auth }) => auth),
      ['user1:user1-password', 'user2:user2-password', undefined],
    );
  });

  test('secrets that cannot be read are told by name, hold up nobody for long, and the pull goes on', async () => {
    const { log, text } = recordedLog();
    using lab = startImageLab({ secrets, log });
    lab.room.want(private1('user1', 'hang', 'gone', 'broken', 'useless'));
    await lab.clock.advance(9000);
    assert.equal(lab.service.pulls.length, 0);
    await lab.clock.advance(1000);
    assert.equal(lab.service.pulls[0]?.auth, 'user1:user1-password');
    assert.equal(
      lab.texts()[0],
      'FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (hang, gone, broken, useless); attempting to pull the image may not succeed.',
    );
    assert.doesNotMatch(text(), /user1-password/);
    assert.match(text(), /secret shop\/useless holds no credentials/);
  });

  test('of the node come after those of the pod, from its file as it is now', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'config.json');
    const { log, text } = recordedLog();
    using lab = startImageLab({ secrets, log, nodeCredentialsFile: file });
    lab.service.answerPull = (pull) => pull.end(denied());
    const next = async (wish: ReturnType<typeof private1>, count: number) => {
      lab.room.want(wish);
      await waitFor('the pulls', async () => {
        await lab.clock.advance(0);
        return lab.service.pulls.length === count;
      });
      return lab.service.pulls.map(({ auth }) => auth?.split(':')[0]);
    };
    assert.deepEqual(await next({ ...private1(), container: 'a' }, 1), [undefined]);
    await writeFile(file, JSON.stringify({ auths: { 'r.example': { username: 'node', password: 'n' } } }));
    lab.room.forget('uid-p');
    assert.deepEqual(await next(private1('user1'), 3), [undefined, 'user1', 'node']);
    await writeFile(file, 'nonsense with a secret');
    lab.room.forget('uid-p');
    await next(private1(), 4);
    assert.match(text(), /config\.json cannot be used.*auths/);
    assert.doesNotMatch(text(), /nonsense/);
  });
});
