import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicyRule } from '../../../../../src/api/index.ts';
import { byRule, may, rule, to } from './ask.ts';

type Row = readonly [what: string, rule: PolicyRule, asked: ReturnType<typeof to>, expected: boolean];

function decides(rows: readonly Row[]): void {
  for (const [what, only, asked, expected] of rows) {
    test(`${what}: ${expected ? 'allowed' : 'not allowed'}`, () => {
      assert.equal(may(byRule(only), asked), expected);
    });
  }
}

describe('the verbs of a rule', () => {
  decides([
    ['a verb that is listed', rule({ verbs: ['list', 'get'] }), to(), true],
    ['a verb that is not', rule({ verbs: ['list', 'watch'] }), to(), false],
    ['any verb by *', rule({ verbs: ['*'] }), to({ verb: 'impersonate' }), true],
    ['no verb by none', rule({ verbs: [] }), to(), false],
    ['all verbs (*) by one', rule(), to({ verb: '*' }), false],
    ['all verbs (*) by *', rule({ verbs: ['*'] }), to({ verb: '*' }), true],
    ['a verb in another case', rule(), to({ verb: 'GET' }), false],
  ]);
});

describe('the groups of a rule', () => {
  const apps = to({ group: 'apps', resource: 'deployments' });
  const of = (...apiGroups: string[]) => rule({ apiGroups, resources: ['deployments'] });
  decides([
    ['a group that is listed', of('', 'apps'), apps, true],
    ['another group', of(''), apps, false],
    ['the core group by the empty text', rule(), to(), true],
    ['the core group by the name of another', rule({ apiGroups: ['apps'] }), to(), false],
    ['any group by *', of('*'), apps, true],
    ['all groups (*) by one', of('apps'), { ...apps, group: '*' }, false],
    ['all groups (*) by *', of('*'), { ...apps, group: '*' }, true],
    ['no group by none', { verbs: ['*'], resources: ['*'] }, apps, false],
  ]);
});

describe('the resources of a rule', () => {
  const log = to({ subresource: 'log' });
  const of = (...resources: string[]) => rule({ resources });
  decides([
    ['a resource that is listed, in every listed group', of('nodes', 'pods'), to(), true],
    ['another resource', of('nodes'), to(), false],
    ['any resource by *', of('*'), to({ resource: 'whatever' }), true],
    ['any subresource by *', of('*'), log, true],
    ['a subresource by its resource', of('pods'), log, false],
    ['a resource by its subresource', of('pods/log'), to(), false],
    ['a subresource that is listed', of('pods/log'), log, true],
    ['another subresource of it', of('pods/log'), to({ subresource: 'exec' }), false],
    ['the same subresource of another', of('nodes/log'), log, false],
    ['a subresource by */log', of('*/log'), log, true],
    ['another subresource by */log', of('*/log'), to({ subresource: 'exec' }), false],
    ['a subresource that ends alike by */log', of('*/log'), to({ subresource: 'weblog' }), false],
    ['a resource by */log', of('*/log'), to(), false],
    ['a resource of that name by */log', of('*/log'), to({ resource: 'log' }), false],
    ['a subresource by pods/*, which means nothing', of('pods/*'), log, false],
    ['all resources (*) by one', of('pods'), to({ resource: '*' }), false],
    ['all resources (*) by *', of('*'), to({ resource: '*' }), true],
  ]);
});

describe('the names of a rule', () => {
  const named = (...verbs: string[]) => rule({ verbs, resourceNames: ['x', 'y'] });
  const fields = (operator: '=' | '!=', value: string, field = 'metadata.name') => ({
    selectors: { fields: [{ field, operator, value }], labels: [] },
  });
  const exec = { verb: 'create', subresource: 'exec' };
  decides([
    ['no names mean all', rule(), to({ name: 'z' }), true],
    ['an empty list means all', rule({ resourceNames: [] }), to({ name: 'z' }), true],
    ['a name that is listed', named('get'), to({ name: 'y' }), true],
    ['another name', named('get'), to({ name: 'z' }), false],
    ['all names', named('get'), to(), false],
    ['update, patch and delete too', named('delete'), to({ verb: 'delete', name: 'x' }), true],
    ['never for create', named('create'), to({ verb: 'create', name: 'x' }), false],
    ['nor by * for create', named('*'), to({ verb: 'create', name: 'x' }), false],
    [
      'but for what is created below a name',
      rule({ ...named('create'), resources: ['pods/exec'] }),
      to({ ...exec, name: 'x' }),
      true,
    ],
    ['never for deletecollection', named('*'), to({ verb: 'deletecollection', name: 'x' }), false],
    ['nor with a selector', named('*'), to({ verb: 'deletecollection', ...fields('=', 'x') }), false],
    ['not for a list', named('list'), to({ verb: 'list' }), false],
    ['for a list of that name', named('list'), to({ verb: 'list', name: 'x' }), true],
    [
      'for a list that a selector narrows to it',
      named('list'),
      to({ verb: 'list', ...fields('=', 'x') }),
      true,
    ],
    ['for such a watch', named('watch'), to({ verb: 'watch', ...fields('=', 'y') }), true],
    ['not for a selector of another', named('list'), to({ verb: 'list', ...fields('=', 'z') }), false],
    ['not for all but one', named('list'), to({ verb: 'list', ...fields('!=', 'x') }), false],
    [
      'not for another field',
      named('list'),
      to({ verb: 'list', ...fields('=', 'x', 'spec.nodeName') }),
      false,
    ],
    ['a selector does not widen a get', named('get'), to({ name: 'z', ...fields('=', 'x') }), false],
  ]);
});

describe('the paths of a rule', () => {
  const at = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ['get'], nonResourceURLs });
  const get = (path: string) => ({ verb: 'get', path });
  decides([
    ['a path that is listed', at('/version', '/api'), get('/api'), true],
    ['another path', at('/api'), get('/apis'), false],
    ['what lies below it', at('/api'), get('/api/v1'), false],
    ['what lies below by *', at('/api/*'), get('/api/v1/x'), true],
    ['the folder itself by *', at('/api/*'), get('/api/'), true],
    ['what is without the slash by *', at('/api/*'), get('/api'), false],
    ['any path by *', at('*'), get('/whatever'), true],
    ['any path by /*', at('/*'), get('/'), true],
    ['another verb', at('*'), { verb: 'post', path: '/api' }, false],
    ['any verb by *', { verbs: ['*'], nonResourceURLs: ['/api'] }, { verb: 'put', path: '/api' }, true],
    [
      'a path by a rule for resources',
      rule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
      get('/api'),
      false,
    ],
    ['a resource by a rule for paths', { verbs: ['*'], nonResourceURLs: ['*'] }, to(), false],
  ]);
});
