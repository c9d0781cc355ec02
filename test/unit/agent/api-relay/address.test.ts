import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiAddressForPods } from '../../../../src/agent/api-relay/index.ts';

const node = ['192.0.2.7', '2001:db8::7'];

describe('where pods reach the API', () => {
  test('is where the agent reaches it, unless that is the machine alone', () => {
    for (const [server, host, port] of [
      ['https://198.51.100.1:6443', '198.51.100.1', 6443],
      ['https://api.example.org', 'api.example.org', 443],
      ['https://[2001:db8::1]:6443', '2001:db8::1', 6443],
      ['https://192.0.2.7:6443', '192.0.2.7', 6443],
      ['https://127.example.org:6443', '127.example.org', 6443],
    ] as const) {
      assert.deepEqual(apiAddressForPods(server, node), { address: { host, port } });
    }
  });

  test('is the address of the node, with the same port, for an API of this machine alone', () => {
    const address = { host: '192.0.2.7', port: 6443 };
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '[::1]']) {
      const relayTo = { host: host.replace(/[[\]]/g, ''), port: 6443 };
      assert.deepEqual(apiAddressForPods(`https://${host}:6443`, node), { address, relayTo });
    }
    const found = apiAddressForPods('https://127.0.0.1:6443', ['127.0.0.1', '2001:db8::7']);
    assert.ok('address' in found && found.address.host === '2001:db8::7');
  });

  test('is nowhere on a machine without an address, by a URL with a path, and before the agent knows', () => {
    const whyOf = (server: string | undefined, ips: readonly string[]) => {
      const found = apiAddressForPods(server, ips);
      return 'missing' in found ? found.missing : assert.fail(JSON.stringify(found));
    };
    assert.match(whyOf('https://127.0.0.1:6443', ['127.0.0.1', '::1']), /no address but its loopback/);
    assert.match(whyOf('https://198.51.100.1/cluster/a', node), /has a path/);
    assert.match(whyOf(undefined, node), /does not know where the API is yet/);
  });
});
