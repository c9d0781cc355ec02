import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findExistingEndpoint, parseEndpoint } from '../../../../src/agent/runtime/endpoint.ts';
import { temporaryFolder } from '../../../support/index.ts';

describe('endpoint of the container runtime', () => {
  test('unix:///path names a socket', () => {
    assert.equal(parseEndpoint('unix:///run/containerd/containerd.sock'), '/run/containerd/containerd.sock');
    assert.equal(parseEndpoint('unix:///run//crio/../crio/crio.sock'), '/run/crio/crio.sock');
  });

  test('anything else is refused with what to write instead', () => {
    const refused: [string, RegExp][] = [
      ['/run/containerd/containerd.sock', /write unix:\/\/\/run\/containerd\/containerd.sock/],
      ['tcp://127.0.0.1:1234', /not supported; use unix:\/\/\/absolute\/path/],
      ['npipe:////./pipe/containerd', /not supported/],
      ['unix:/run/x.sock', /not supported/],
      ['unix://run/x.sock', /absolute path/],
      ['unix:///', /absolute path/],
      ['unix://', /absolute path/],
      ['unix:///a\0b', /absolute path/],
      [`unix:///${'x'.repeat(107)}`, /at most 107 bytes/],
      ['', /not supported/],
      ['containerd.sock', /not supported/],
    ];
    for (const [endpoint, message] of refused) {
      assert.throws(() => parseEndpoint(endpoint), { message }, endpoint);
    }
  });

  test('of several the first that exists counts', async () => {
    await using folder = await temporaryFolder();
    const endpoints = ['a', 'b', 'c'].map((name) => `unix://${join(folder.path, name)}`);
    assert.equal(findExistingEndpoint(endpoints), undefined);
    await writeFile(join(folder.path, 'c'), '');
    assert.equal(findExistingEndpoint(endpoints), endpoints[2]);
    await writeFile(join(folder.path, 'b'), '');
    assert.equal(findExistingEndpoint(endpoints), endpoints[1]);
  });
});
