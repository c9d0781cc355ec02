import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { FakeObjects } from '../../../support/fake-objects.ts';
import { describeState, podOf, startImageLab, wishOf } from './image-lab.ts';

const configOf = (password: string) => {
  const auths = { 'docker.io': { username: 'u', password } };
  return { '.dockerconfigjson': JSON.stringify({ auths }) };
};
const wish = wishOf({ image: 'web:1', pod: podOf('p', { imagePullSecrets: [{ name: 'reg' }] }) });

/** A registry that lets in only who has the right secret, which is not there yet. */
function privateLab() {
  const secrets = new FakeObjects();
  const lab = startImageLab({ secrets });
  lab.service.answerPull = (pull) =>
    pull.end(pull.auth === 'u:right' ? undefined : new RuntimeError('failed', '401'));
  const state = () => describeState(lab.room.want(wish));
  return { ...lab, secrets, state, [Symbol.dispose]: () => lab[Symbol.dispose]() };
}

describe('a pull secret that is missing', () => {
  test('is waited for: when it comes, the image is pulled at once', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(200_000); // far into the waits after failures
    assert.match(lab.state(), /ImagePullBackOff/);
    const before = lab.service.pulls.length;
    lab.secrets.setSecret('reg', configOf('right'));
    await lab.clock.advance(0);
    assert.match(lab.state(), /^present /);
    assert.equal(lab.service.pulls.length, before + 1);
  });

  test('that comes with another password is waited for until that is corrected', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(1000);
    lab.secrets.setSecret('reg', configOf('wrong'));
    await lab.clock.advance(0);
    assert.equal(lab.service.pulls.length, 2);
    lab.secrets.setSecret('reg', configOf('wrong')); // written again
    lab.secrets.setSecret('other', configOf('right'));
    await lab.clock.advance(0);
    assert.equal(lab.service.pulls.length, 2);
    lab.secrets.setSecret('reg', configOf('right'));
    await lab.clock.advance(0);
    assert.match(lab.state(), /^present /);
    assert.equal(lab.service.pulls.length, 3);
  });

  test('that comes while the pull is under way is not passed over', async () => {
    using lab = privateLab();
    let end: (() => void) | undefined;
    const answer = lab.service.answerPull;
    lab.service.answerPull = (pull) => {
      end = () => answer?.(pull);
      lab.service.answerPull = answer;
    };
    lab.state();
    await lab.clock.advance(1000);
    lab.secrets.setSecret('reg', configOf('right'));
    await lab.clock.advance(0);
    end?.();
    await lab.clock.advance(0);
    assert.match(lab.state(), /^present /);
  });

  test('that is there and of no use ends no wait, nor does an API that does not answer', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(1000);
    lab.secrets.setSecret('reg', { password: 'p' });
    await lab.clock.advance(8000);
    lab.secrets.putSecret('reg', { state: 'refused', message: 'not for this node' });
    assert.equal(lab.service.pulls.length, 1);
    await lab.clock.advance(200_000);
    const pulls = lab.service.pulls.length;
    assert.ok(pulls <= 6, `${pulls} pulls in 209 s: after 10, 20, 40, 80 s …`);
    lab.secrets.setSecret('reg', configOf('right'));
    await lab.clock.advance(0);
    assert.match(lab.state(), /^present /);
  });

  test('is not waited for by a pod that is gone', async () => {
    using lab = privateLab();
    lab.state();
    await lab.clock.advance(1000);
    lab.room.forget('uid-p');
    lab.secrets.setSecret('reg', configOf('right'));
    await lab.clock.advance(600_000);
    assert.equal(lab.service.pulls.length, 1);
  });

  test('that is not missing does not hasten what fails for another reason', async () => {
    using lab = privateLab();
    lab.secrets.setSecret('reg', configOf('right'));
    lab.service.answerPull = (pull) => pull.end(new RuntimeError('failed', '500'));
    lab.state();
    await lab.clock.advance(9000);
    assert.equal(lab.service.pulls.length, 1);
  });
});
