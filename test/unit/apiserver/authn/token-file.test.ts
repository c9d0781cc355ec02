import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readTokenFile } from '../../../../src/apiserver/authn/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { nodes, startServer } from '../support/index.ts';

async function file(text: string) {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'tokens.csv');
  await writeFile(path, text, { mode: 0o600 });
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const usersOf = async (text: string) => {
  await using at = await file(text);
  return [...(await readTokenFile(at.path)).values()].map(({ user }) => user);
};

describe('a file of tokens', () => {
  test('has a user on each line, with uid and groups where they are given', async () => {
    const text = [
      '# who may',
      'token-of-alice-000,alice,1,"ops,system:masters"',
      '',
      'token-of-bob-00000,bob',
      '"token-of-carol-""0",carol ,, single',
    ].join('\r\n');
    assert.deepEqual(await usersOf(text), [
      { name: 'alice', uid: '1', groups: ['ops', 'system:masters', 'system:authenticated'], extra: {} },
      { name: 'bob', groups: ['system:authenticated'], extra: {} },
      { name: 'carol', groups: ['single', 'system:authenticated'], extra: {} },
    ]);
  });

  test('tells every wrong line, and no token', async () => {
    const text =
      'short,alice\ntoken-of-bob-00000,\ntoken-of-carol-000,carol\ntoken-of-carol-000,dave\ntök-en-of-eve-00000,eve';
    await using at = await file(text);
    await assert.rejects(readTokenFile(at.path), (error: Error) => {
      assert.match(error.message, /line 1: its token is shorter than 16 characters; line 2: it has no user/);
      assert.match(error.message, /line 4: its token stands above already; line 5: its token has other than/);
      assert.doesNotMatch(error.message, /token-of|tök/);
      return true;
    });
  });

  test('that others can read, or that is not there, is refused', async () => {
    await using at = await file('token-of-alice-000,alice');
    await chmod(at.path, 0o644);
    await assert.rejects(readTokenFile(at.path), /others than its owner can read or write it: chmod 600/);
    await assert.rejects(readTokenFile(`${at.path}.none`), /cannot be used: .*ENOENT/);
  });
});

describe('a server with a file of tokens', () => {
  test('knows their users, and refuses all other tokens', async () => {
    await using at = await file('token-of-alice-000,alice,1,system:masters\ntoken-of-bob-00000,bob');
    await using server = await startServer({ authentication: { tokenFile: at.path } });
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    assert.equal((await server.nobody.request('GET', nodes, as('token-of-alice-000'))).code, 200);
    await server.nobody.refused('Forbidden', 'GET', nodes, as('token-of-bob-00000'));
    await server.nobody.refused('Unauthorized', 'GET', nodes, as('token-of-alice-001'));
    await server.nobody.refused('Unauthorized', 'GET', nodes);
    const review = async (spec: object) =>
      (await server.admin.must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec })).status;
    const { authenticated, user } = Object(await review({ token: 'token-of-bob-00000' }));
    assert.deepEqual([authenticated, user], [true, { username: 'bob', groups: ['system:authenticated'] }]);
    const other = Object(await review({ token: 'token-of-bob-00000', audiences: ['vault'] }));
    assert.notEqual(other.authenticated, true);
    assert.doesNotMatch(server.logged(), /token-of/);
  });
});
