import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentRoute } from '../../../../src/agent/server/index.ts';
import { subresourcesOf, subresourcesOfUnknown, verbOf } from '../../../../src/agent/server/route.ts';

const answer = () => assert.fail('nobody asks');

function route(
  path: string,
  subresource: string,
  methods: AgentRoute['methods'] = { GET: answer },
): AgentRoute {
  return { path, subresource, methods };
}

test('a method is the verb of the reference, unless the route says otherwise', () => {
  const verbs = Object.entries({
    POST: 'create',
    GET: 'get',
    PUT: 'update',
    PATCH: 'patch',
    DELETE: 'delete',
  });
  for (const [method, verb] of verbs) assert.equal(verbOf(method, undefined), verb);
  assert.equal(verbOf('PROPFIND', undefined), 'propfind');
  const checkpoints = route('/checkpoints', 'checkpoint', { GET: { verb: 'list', answer } });
  assert.equal(verbOf('GET', checkpoints), 'list');
  assert.equal(verbOf('DELETE', checkpoints), 'delete');
});

test('who may proxy may what has become finer since, and nothing that was there before', () => {
  assert.deepEqual(subresourcesOf(route('/pods', 'pods')), ['pods', 'proxy']);
  assert.deepEqual(subresourcesOf(route('/seccomp', 'seccomp')), ['seccomp', 'proxy']);
  assert.deepEqual(subresourcesOf(route('/metrics', 'metrics')), ['metrics']);
  assert.deepEqual(subresourcesOf(route('/checkpoints', 'checkpoint')), ['checkpoint']);
});

test('a path that nobody answers is authorized as those that begin alike', () => {
  const routes = [route('/checkpoint/:namespace', 'checkpoint'), route('/runningpods/', 'pods')];
  const of = (url: string) => subresourcesOfUnknown(url, routes).join(' ');
  assert.equal(of('/checkpoint/%zz?timeout=1'), 'checkpoint');
  assert.equal(of('/runningpods'), 'pods proxy');
  assert.equal(of('/logs/'), 'log');
  assert.equal(of('/stats/container'), 'stats');
  assert.equal(of('/checkpointed'), 'proxy');
  assert.equal(of('/'), 'proxy');
  assert.equal(of('?/checkpoint'), 'proxy');
  assert.equal(of('//checkpoint'), 'proxy');
  assert.equal(of('/constructor'), 'proxy');
});
