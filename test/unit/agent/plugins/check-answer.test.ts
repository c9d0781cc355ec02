import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkAnswer } from '../../../../src/agent/plugins/check-answer.ts';
import type { PluginAnswer } from '../../../../src/agent/plugins/peer.ts';

const socket = { path: '/plugins_registry/a.sock', madeMs: 7 };
const good: PluginAnswer = {
  type: 'CSIPlugin',
  name: 'csi.example.com',
  endpoint: '/plugins/csi.sock',
  supportedVersions: ['1.0.0'],
};

describe('what a plugin says of itself', () => {
  test('is taken as it stands', () => {
    assert.deepEqual(checkAnswer(good, socket), {
      type: 'CSIPlugin',
      name: 'csi.example.com',
      endpoint: '/plugins/csi.sock',
      versions: ['1.0.0'],
      socket: '/plugins_registry/a.sock',
      madeMs: 7,
    });
  });

  test('may leave out the endpoint, which is the socket then', () => {
    assert.equal(checkAnswer({ ...good, endpoint: '' }, socket).endpoint, socket.path);
  });

  test('may be the name of a resource', () => {
    assert.equal(
      checkAnswer({ ...good, name: 'vendor.example/Some_device' }, socket).name,
      'vendor.example/Some_device',
    );
  });

  const faults: readonly [string, Partial<PluginAnswer>, RegExp][] = [
    ['no type', { type: '' }, /^type: Required value$/],
    ['a long type', { type: 'x'.repeat(64) }, /^type: Too long: may not be more than 63 characters$/],
    ['a type that is no word', { type: 'a b' }, /^type: Invalid value: "a b"/],
    ['no name', { name: '' }, /^name: Required value$/],
    [
      'a name of two slashes',
      { name: 'a/b/c' },
      /^name: Invalid value: "a\/b\/c": a qualified name has at most one/,
    ],
    ['a name that leaves its folder', { name: '../x' }, /^name: Invalid value/],
    ['a name that speaks to the terminal', { name: 'a\u001b[2Jb' }, /^name: Invalid value: "a\\u001b\[2Jb"/],
    ['a name of 64 characters', { name: 'x'.repeat(64) }, /no more than 63 characters/],
    ['a prefix of 254 characters', { name: `${'x'.repeat(254)}/a` }, /prefix part must be no more than 253/],
    [
      'a relative endpoint',
      { endpoint: 'csi.sock' },
      /^endpoint: Invalid value: "csi.sock": a socket needs an absolute path$/,
    ],
    ['an endpoint as a URL', { endpoint: 'unix:///csi.sock' }, /needs an absolute path/],
    ['a long endpoint', { endpoint: `/${'x'.repeat(107)}` }, /has at most 107 bytes, this one has 108$/],
    [
      'an endpoint of two lines',
      { endpoint: '/a\n/b' },
      /^endpoint: Invalid value: "\/a\\n\/b": control characters/,
    ],
    ['no versions', { supportedVersions: [] }, /^supported_versions: Required value$/],
    ['an empty version', { supportedVersions: ['1.0.0', ''] }, /^supported_versions: Invalid value: ""/],
    [
      'a long version',
      { supportedVersions: ['x'.repeat(257)] },
      /^supported_versions: Invalid value: "x{100}…"/,
    ],
    [
      'many versions',
      { supportedVersions: Array.from({ length: 65 }, () => '1') },
      /^supported_versions: Too many: 65/,
    ],
  ];
  for (const [what, change, words] of faults)
    test(`is refused with ${what}`, () => {
      assert.throws(() => checkAnswer({ ...good, ...change }, socket), { message: words });
    });
});
