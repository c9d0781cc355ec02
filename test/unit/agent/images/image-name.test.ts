import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImageName } from '../../../../src/agent/images/image-name.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

const digest = `sha256:${'ab'.repeat(32)}`;

test('a name gets its registry, and a tag where it has neither tag nor digest', () => {
  const table: readonly (readonly [string, full: string, repository: string, canonical: string])[] = [
    ['nginx', 'nginx:latest', 'docker.io/library/nginx', 'docker.io/library/nginx:latest'],
    ['nginx:1.27', 'nginx:1.27', 'docker.io/library/nginx', 'docker.io/library/nginx:1.27'],
    ['team/app', 'team/app:latest', 'docker.io/team/app', 'docker.io/team/app:latest'],
    [
      'index.docker.io/app',
      'index.docker.io/app:latest',
      'docker.io/library/app',
      'docker.io/library/app:latest',
    ],
    ['localhost/app:1', 'localhost/app:1', 'localhost/app', 'localhost/app:1'],
    ['host:5000/app', 'host:5000/app:latest', 'host:5000/app', 'host:5000/app:latest'],
    ['[fe80::1]:5000/app:1', '[fe80::1]:5000/app:1', '[fe80::1]:5000/app', '[fe80::1]:5000/app:1'],
    ['HOST/app:1', 'HOST/app:1', 'HOST/app', 'HOST/app:1'],
    [`a.b/c@${digest}`, `a.b/c@${digest}`, 'a.b/c', `a.b/c@${digest}`],
    [`a.b/c:1@${digest}`, `a.b/c:1@${digest}`, 'a.b/c', `a.b/c@${digest}`],
    ['a.b/c/d__e-f.g:v_1.0-x', 'a.b/c/d__e-f.g:v_1.0-x', 'a.b/c/d__e-f.g', 'a.b/c/d__e-f.g:v_1.0-x'],
  ];
  for (const [text, full, repository, canonical] of table)
    assert.deepEqual(parseImageName(text), { full, repository, canonical }, text);
});

test('what is no name is refused', () => {
  const format = /^Error: invalid reference format$/;
  const table: readonly (readonly [string, RegExp])[] = [
    ['', format],
    ['nginx:', format],
    ['nginx::latest', format],
    [':1', format],
    ['/nginx', format],
    ['nginx/', format],
    ['a//b', format],
    ['a b', format],
    ['nginx\n', format],
    ['nginx@', format],
    ['nginx@sha256:abc', format],
    [`nginx@${digest.toUpperCase()}`, /unsupported digest algorithm/],
    [`nginx@sha256:${'a'.repeat(63)}`, /invalid checksum digest length/],
    [`nginx@sha256:${'A'.repeat(64)}`, /invalid checksum digest format/],
    [`nginx:${'a'.repeat(129)}`, format],
    ['-host.example/app', format],
    ['a'.repeat(2000), format],
    ['Nginx', /repository name \(library\/Nginx\) must be lowercase$/],
    ['host:5000/App:1', /repository name \(App\) must be lowercase$/],
    ['ab'.repeat(32), /cannot specify 64-byte hexadecimal strings$/],
    [`a.b/${'c'.repeat(252)}`, /repository name must not be more than 255 characters$/],
  ];
  for (const [text, message] of table) assert.throws(() => parseImageName(text), message, text);
});

test('a long hostile name takes no time', () => {
  const names = [`${'a-'.repeat(500)}!`, `${'a.'.repeat(500)}/!`, `x@${'a-'.repeat(400)}:${'g'.repeat(99)}`];
  for (const text of names) assert.ok(cpuMsOf(() => assert.throws(() => parseImageName(text))) < 500, text);
});
