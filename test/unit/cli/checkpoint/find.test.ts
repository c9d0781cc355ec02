import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseCheckpoint } from '../../../../src/cli/checkpoint/find.ts';
import { describeTarget, parseTarget, resolveTarget } from '../../../../src/cli/checkpoint/target.ts';
import { agentLab } from './agent-lab.ts';

const known = ['web_shop-app', 'web_shop-log', 'db_shop-app', 'web_other-app'].map((name, index) => {
  const [pod = '', rest = ''] = name.split('_');
  const [namespace = '', container = ''] = rest.split('-');
  const id = `checkpoint-${name}-2026-01-02T03:04:0${9 - index}.000000000Z`;
  return { id, namespace, pod, container };
});
const [first, second, third, fourth] = known.map(({ id }) => id);
const choose = (reference: string, namespace?: string) => chooseCheckpoint(reference, namespace, known);

describe('ids are long and must be whole: no prefix, latest, or POD/CONTAINER', () => {
  test('each of them is taken', () => {
    assert.equal(choose(`${second}`), second);
    assert.equal(choose('checkpoint-db'), third);
    assert.equal(choose('db_'), third, 'what all ids begin with may be left out');
    assert.equal(choose('web_', 'other'), fourth, 'of those of the namespace');
    assert.equal(choose('latest'), first);
    assert.equal(choose('latest', 'other'), fourth);
    assert.equal(choose('web/app'), first, 'the newest of it, in any namespace');
    assert.equal(choose('web/app', 'other'), fourth);
    assert.equal(choose('shop/web/log'), second);
  });

  test('the beginning of several lists them', () => {
    assert.throws(() => choose('checkpoint-web_shop'), {
      exitCode: 2,
      message: `"checkpoint-web_shop" is the beginning of 2 checkpoints; give more of one:\n  ${first}\n  ${second}`,
    });
    const many = Array.from({ length: 12 }, (_, index) => ({ id: `checkpoint-a${index}` }));
    assert.throws(() => chooseCheckpoint('a', undefined, many), /checkpoint-a9\n {2}and 2 more$/);
  });

  test('what there is none of is told with its parts', () => {
    assert.throws(() => choose('nothing'), /no checkpoint begins with "nothing"; see .*checkpoint ls$/);
    assert.throws(
      () => choose('web/none', 'shop'),
      /no checkpoint of namespace "shop", pod "web", container "none"/,
    );
    assert.throws(() => chooseCheckpoint('latest', undefined, []), /^ExitError: there is no checkpoint; see/);
    assert.throws(() => choose('a/b/c', 'other'), /not of the namespace other/);
  });

  test('every command that takes an id takes them', async () => {
    await using at = await agentLab();
    const [old, young] = [await at.make({ pod: 'db' }), await at.make()];
    assert.match((await at.run('get', 'latest')).stdout, new RegExp(`^id +${young.id}$`, 'm'));
    assert.equal((await at.run('get', 'shop/db/main', '-o', 'name')).stdout, `${old.id}\n`);
    assert.equal((await at.run('pin', 'db/main', '-n', 'shop')).stdout, `${old.id} is pinned\n`);
    assert.equal((await at.run('unpin', 'db_')).stdout, `${old.id} is not pinned\n`);
    assert.equal(
      (await at.run('verify', 'latest', 'db/main', '-o', 'name')).stdout,
      `${young.id}\n${old.id}\n`,
    );
    for (const command of ['inspect', 'image']) {
      const { stderr } = await at.run(command, 'latest', '--output-file', '/nowhere/x');
      assert.doesNotMatch(stderr, /there is no archive/, command);
    }
    const { code, stderr } = await at.run('rm', 'checkpoint-');
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`beginning of 2 checkpoints.*\n +${young.id}\n +${old.id}\n`));
    assert.equal(
      (await at.run('rm', 'latest', 'latest')).stdout,
      `${young.id} is removed\n${old.id} is removed\n`,
    );
  });
});

describe('nodeward checkpoint web/app (namespace forgotten)', () => {
  test('with -n the parts are POD and CONTAINER, without it NAMESPACE and POD as ever', () => {
    const read = (text: string, namespace?: string) => resolveTarget(parseTarget(text), namespace);
    assert.deepEqual(read('a/b'), { namespace: 'a', pod: 'b', container: undefined });
    assert.deepEqual(read('a/b', 'n'), { namespace: 'n', pod: 'a', container: 'b' });
    assert.deepEqual(read('a', 'n'), { namespace: 'n', pod: 'a', container: undefined });
    for (const namespace of [undefined, 'a'])
      assert.deepEqual(read('a/b/c', namespace), { namespace: 'a', pod: 'b', container: 'c' });
    assert.throws(() => read('a/b/c', 'n'), /not of the namespace n/);
    assert.throws(() => read('a'), /the namespace of the pod a is not known; name it with -n/);
  });

  test('what is not there is named with namespace, pod and container, and the other reading', () => {
    const target = { namespace: 'web', pod: 'app', container: undefined };
    const text = 'namespace "web", pod "app", all its containers';
    assert.equal(
      describeTarget(target, false),
      `${text}; for container app of pod web: nodeward checkpoint web/app -n NAMESPACE`,
    );
    assert.equal(describeTarget(target, true), text);
    assert.equal(
      describeTarget({ ...target, container: 'c' }, false),
      'namespace "web", pod "app", container "c"',
    );
  });
});
