import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiForPods } from '../../../../src/agent/api-relay/index.ts';
import type { Known } from '../../../../src/agent/objects/index.ts';
import { withApiService } from '../../../../src/agent/objects/index.ts';
import type { Service } from '../../../../src/api/index.ts';

const service = (namespace: string, name: string, clusterIP: string): Service => ({
  metadata: { namespace, name },
  spec: { clusterIP, ports: [{ port: 80 }] },
});
const web = service('shop', 'web', '10.0.0.2');
const other = service('shop', 'kubernetes', '10.0.0.3');
const own: Service = {
  metadata: { namespace: 'default', name: 'kubernetes' },
  spec: { clusterIP: '192.0.2.7', ports: [{ name: 'https', protocol: 'TCP', port: 6443 }] },
};
const here: ApiForPods = { address: { host: '192.0.2.7', port: 6443 } };

function servicesOf(known: Known<readonly Service[]>, where: ApiForPods = here): Known<readonly Service[]> {
  const onKnown = () => ({ [Symbol.dispose]: () => undefined });
  return withApiService({ services: () => known, onKnown }, () => where).services();
}

const present = (...services: Service[]): Known<readonly Service[]> => ({
  state: 'present',
  object: services,
});

describe('the Service of the API', () => {
  test('is where the agent finds the API, when there is none, or it has no address', () => {
    assert.deepEqual(servicesOf(present(web, other)), present(web, other, own));
    for (const address of ['None', '']) {
      assert.deepEqual(
        servicesOf(present(service('default', 'kubernetes', address), web)),
        present(web, own),
      );
    }
  });

  test('is the one on the API, when that has an address', () => {
    const proxied = service('default', 'kubernetes', '10.96.0.1');
    assert.deepEqual(servicesOf(present(proxied, web)), present(web, proxied));
  });

  test('is left out while pods cannot reach the API', () => {
    assert.deepEqual(servicesOf(present(web), { missing: 'why' }), present(web));
  });

  test('is not known before the others are', () => {
    const waiting: Known<readonly Service[]> = { state: 'waiting', message: 'not yet' };
    assert.deepEqual(servicesOf(waiting), waiting);
  });
});
