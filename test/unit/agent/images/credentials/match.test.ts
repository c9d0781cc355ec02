import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCredentials, normalizeKey } from '../../../../../src/agent/images/credentials/match.ts';
import {
  mergeCredentials,
  parseDockerConfig,
  parseDockercfg,
} from '../../../../../src/agent/images/credentials/parse.ts';
import { withoutSecrets } from '../../../../../src/agent/images/credentials/redact.ts';
import { cpuMsOf } from '../../../../support/cpu-time.ts';

/** Credentials whose user is the key. */
const known = (...keys: string[]) =>
  new Map(keys.map((key) => [normalizeKey(key) ?? '', [{ username: key, password: 'x' }]]));

test('keys and the repositories that they are for', () => {
  const table: readonly (readonly [key: string, repository: string, fits: boolean])[] = [
    ['a.example', 'a.example/app', true],
    ['https://a.example', 'a.example/app', true],
    ['http://a.example/v1/', 'a.example/app', true],
    ['https://a.example/v2/', 'a.example/app', true],
    ['a.example/v2/team', 'a.example/team/app', true],
    ['a.example/team', 'a.example/team/app', true],
    ['a.example/team', 'a.example/teams/app', true], // a plain prefix, as in the reference
    ['a.example/team', 'a.example/other', false],
    ['a.example:5000', 'a.example/app', false],
    ['a.example', 'a.example:5000/app', false],
    ['a.example:5000', 'a.example:5000/app', true],
    ['*.example', 'a.example/app', true],
    ['*.example', 'a.b.example/app', false],
    ['*.*.example', 'a.b.example/app', true],
    ['a*.example', 'abc.example/app', true],
    ['a*b*.example', 'aXbYb.example/app', true],
    ['a*b.example', 'aXbY.example/app', false],
    ['a.exampl', 'a.example/app', false],
    ['A.example', 'a.example/app', false],
    ['a+.example', 'aa.example/app', false],
    ['https://index.docker.io/v1/', 'docker.io/library/nginx', true],
    ['index.docker.io', 'docker.io/team/app', true],
    ['index.docker.io', 'localhost/app', false],
    ['index.docker.io', 'a.example/app', false],
    ['docker.io', 'docker.io/library/nginx', true],
  ];
  for (const [key, repository, fits] of table)
    assert.equal(findCredentials(known(key), repository).length > 0, fits, `${key} for ${repository}`);
});

test('of several keys the longer ones come first', () => {
  const found = findCredentials(
    known('a.example', 'a.example/team', '*.example', 'b.example'),
    'a.example/team/app',
  );
  assert.deepEqual(
    found.map(({ username }) => username),
    ['a.example/team', 'a.example', '*.example'],
  );
});

const auth = (text: string) => Buffer.from(text).toString('base64');

test('files and secrets: what can be read of them', () => {
  const entries = {
    'a.example': { username: 'u', password: 'p' },
    'b.example': { username: 'ignored', password: 'ignored', auth: auth('v:q:r') },
    'c.example': { auth: auth('no colon') },
    'd.example': { identitytoken: 'x' },
    'e.example': 'text',
    '': { username: 'u', password: 'p' },
    'https://f.example/v1/': { auth: auth('w:s').replace(/=+$/, '') },
  };
  const wanted = [
    ['a.example', [{ username: 'u', password: 'p' }]],
    ['b.example', [{ username: 'v', password: 'q:r' }]],
    ['f.example', [{ username: 'w', password: 's' }]],
  ];
  assert.deepEqual([...(parseDockerConfig(JSON.stringify({ auths: entries })) ?? [])], wanted);
  assert.deepEqual([...(parseDockercfg(JSON.stringify(entries)) ?? [])], wanted);
  for (const text of ['', '[]', 'nonsense', '{"auths": []}'])
    assert.equal(parseDockerConfig(text), undefined, text);
  assert.deepEqual(parseDockerConfig('{"credHelpers": {}}'), new Map());
});

test('the same key twice: both are tried', () => {
  const merged = mergeCredentials([known('a.example'), known('a.example')]);
  assert.equal(findCredentials(merged, 'a.example/app').length, 2);
});

test('a hostile key takes no time', () => {
  const key = `${'*a'.repeat(31)}.example`;
  const find = () => findCredentials(known(key), `${'a'.repeat(63)}b.example/app`);
  assert.ok(cpuMsOf(() => assert.equal(find().length, 0)) < 500);
});

test('messages lose what opens a registry', () => {
  const credential = { username: 'me', password: 'open sesame' };
  const basic = auth('me:open sesame');
  assert.equal(
    withoutSecrets(
      `GET https://me:open@r.example/x?X-Amz-Signature=abc&a=b: said open sesame, ${basic}`,
      credential,
    ),
    'GET https://r.example/x?X-Amz-Signature=…&a=b: said …, …',
  );
  assert.equal(withoutSecrets('short p', { username: 'p', password: 'p' }), 'short p');
});
