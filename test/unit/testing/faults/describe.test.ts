import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { describeRequest, describeWrite } from '../../../../src/testing/faults/describe.ts';

function describe(method: string, url: string) {
  const { verb, group, resource, namespace, name, subresource } = describeRequest(
    Object.assign(new IncomingMessage(new Socket()), { method, url }),
  );
  return [verb, group, resource, namespace, name, subresource].join(' ').trimEnd();
}

test('a request is what the server will take it for', () => {
  const api = '/api/v1/namespaces';
  const apis = '/apis/coordination.k8s.io/v1';
  assert.equal(describe('GET', `${api}/ns/pods`), 'list  pods ns');
  assert.equal(describe('GET', `${api}/ns/pods?watch=1`), 'watch  pods ns');
  assert.equal(describe('GET', `${api}/ns/pods?watch`), 'watch  pods ns');
  assert.equal(describe('GET', `${api}/ns/pods?watch=false`), 'list  pods ns');
  assert.equal(describe('GET', `${api}/ns/pods/p?watch=1`), 'get  pods ns p');
  assert.equal(describe('PUT', `${api}/ns/pods/p/status`), 'update  pods ns p status');
  assert.equal(
    describe('DELETE', `${apis}/namespaces/ns/leases`),
    'deletecollection coordination.k8s.io leases ns',
  );
  assert.equal(describe('PATCH', `${apis}/namespaces/ns/leases/l`), 'patch coordination.k8s.io leases ns l');
  assert.equal(describe('GET', `${apis}/leases`), 'list coordination.k8s.io leases');
  assert.equal(describe('GET', api), 'list  namespaces');
  assert.equal(describe('DELETE', `${api}/ns`), 'delete  namespaces  ns');
  assert.equal(describe('PUT', `${api}/ns/finalize`), 'update  namespaces  ns finalize');
  assert.equal(describe('GET', '/api/v1/nodes/a%2Fb'), 'get  nodes  a/b');
  assert.equal(describe('GET', '/api/v1/nodes/%zz'), 'get  nodes  %zz');
  for (const path of ['/', '/api', '/api/v1', '/version', '/openapi/v3'])
    assert.equal(describe('GET', path), 'get');
  assert.equal(describe('GET', apis), 'get coordination.k8s.io');
});

test('a write is told by its key', () => {
  const value = Buffer.from('{}');
  const lease = { verb: 'create', resource: 'leases', namespace: 'ns', name: 'l' };
  assert.deepEqual(describeWrite({ key: '/registry/leases/ns/l', expect: 0, value }), lease);
  const node = { verb: 'update', resource: 'nodes', namespace: '', name: 'n' };
  assert.deepEqual(describeWrite({ key: '/registry/nodes/n', expect: 7, value }), node);
  assert.equal(describeWrite({ key: '/registry/nodes/n', expect: 7, value: null }).verb, 'delete');
});
