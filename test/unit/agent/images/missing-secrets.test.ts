import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { describeState, podOf, startImageLab, wishOf } from './image-lab.ts';

type Secret = Readonly<Record<string, string>>;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const auths = { 'docker.io': { username: 'u', password: 'p' } };
const usable: Secret = { '.dockerconfigjson': base64(JSON.stringify({ auths })) };
const wish = wishOf({ image: 'web:1', pod: podOf('p', { imagePullSecrets: [{ name: 'reg' }] }) });

/** A registry that lets in only who has the secret, which is not there yet. */
function privateLab() {
  const secrets = new Map<string, Secret>();
  const asked: string[] = [];
  let failure: Error | undefined;
  const lab = startImageLab({
    readSecret: async (namespace, name) => {
      asked.push(`${namespace}/${name}`);
      if (failure !== undefined) throw failure;
      return secrets.get(name);
    },
  });
  lab.service.answerPull = (pull) =>
    pull.end(pull.auth === undefined ? new RuntimeError('failed', '401') : undefined);
  const state = () => describeState(lab.room.want(wish));
  const fail = (error: Error | undefined) => {
    failure = error;
  };
  return { ...lab, secrets, asked, state, fail, [Symbol.dispose]: () => lab[Symbol.dispose]() };
}

describe('a pull secret that is missing', () => {
  test('is waited for: when it comes, the image is pulled at once', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(200_000); // far into the waits after failures
    assert.match(lab.state(), /ImagePullBackOff/);
    lab.secrets.set('reg', usable);
    const before = lab.service.pulls.length;
    await lab.clock.advance(15_000);
    assert.match(lab.state(), /^present /);
    assert.equal(lab.service.pulls.length, before + 1);
    const asked = lab.asked.length;
    await lab.clock.advance(600_000);
    assert.equal(lab.asked.length, asked, 'nobody asks for it any more');
  });

  test('is found soon when it comes soon', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(3000);
    lab.secrets.set('reg', usable);
    await lab.clock.advance(2000);
    assert.match(lab.state(), /^present /);
  });

  test('that is there and of no use ends no wait, nor does an API that does not answer', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(1000);
    lab.secrets.set('reg', { password: base64('p') });
    await lab.clock.advance(8000);
    lab.fail(new Error('the API is away'));
    assert.equal(lab.service.pulls.length, 1);
    await lab.clock.advance(200_000);
    const pulls = lab.service.pulls.length;
    assert.ok(pulls <= 6, `${pulls} pulls in 209 s: after 10, 20, 40, 80 s …`);
    lab.fail(undefined);
    lab.secrets.set('reg', usable);
    await lab.clock.advance(15_000);
    assert.match(lab.state(), /^present /);
  });

  test('is asked for at most once in some seconds, and not for a pod that is gone', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(600_000);
    assert.ok(lab.asked.length < 90, `${lab.asked.length} times in ten minutes`);
    assert.deepEqual([...new Set(lab.asked)], ['shop/reg']);
    const asked = lab.asked.length;
    lab.room.forget('uid-p');
    await lab.clock.advance(600_000);
    assert.equal(lab.asked.length, asked);
  });

  test('that is not missing is asked for only by pulls', async () => {
    using lab = privateLab();
    lab.secrets.set('reg', usable);
    lab.service.answerPull = (pull) => pull.end(new RuntimeError('failed', '500'));
    lab.state();
    await lab.clock.advance(600_000);
    assert.equal(lab.asked.length, lab.service.pulls.length);
  });
});
