import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readNodeName, readProxiedPath } from '../../../../src/apiserver/node-proxy/index.ts';

test('whatever is taken is passed on byte for byte, and leads nowhere upwards', () => {
  const piece = fc.constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2E',
    '%2f',
    '%5c',
    '\\',
    'a',
    '%25',
    '%',
    ';',
    '?',
    '%00',
    'é',
    '//',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const rest = `/${pieces.join('')}`;
      let target: string;
      try {
        ({ target } = readProxiedPath(`/api/v1/nodes/node-a/proxy${rest}`));
      } catch {
        return;
      }
      const [path = ''] = target.split('?');
      if (rest !== '/' && !rest.startsWith('/?')) assert.equal(target, rest);
      assert.match(target, /^\/[\x21-\x7e]*$/);
      const decoded = decodeURIComponent(path);
      assert.ok(!decoded.split(/[/\\]/).some((part) => part === '..' || part === '.'), path);
      assert.equal(new URL(`https://node${path}`).pathname, path, 'another reader sees the same');
    }),
    { numRuns: 3000 },
  );
});

test('the name of a node may have its scheme and its port, and nothing else', () => {
  assert.deepEqual(readNodeName('node-a'), { name: 'node-a', port: undefined });
  assert.deepEqual(readNodeName('node-a:10250'), { name: 'node-a', port: 10250 });
  assert.deepEqual(readNodeName('https:node-a:'), { name: 'node-a', port: undefined });
  assert.deepEqual(readNodeName('https:node-a:10250'), { name: 'node-a', port: 10250 });
  for (const text of [
    '',
    ':',
    ':10250',
    'http:node-a:',
    'https::',
    'a:b',
    'a:1:2:3',
    'a/b',
    'a:-1',
    'a:1e3',
    'a: 1',
  ])
    assert.throws(() => readNodeName(text), { reason: 'BadRequest' }, text);
});
