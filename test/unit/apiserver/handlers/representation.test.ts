import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lease, leases, named, nodes, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';
/** As kubectl asks. */
const kubectl = `${tableType},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`;

before(async () => {
  await admin.must('POST', nodes, named('red', { labels: { colour: 'red', constructor: 'x' } }));
  await admin.must('POST', nodes, {
    ...named('blue', { labels: { colour: 'blue' } }),
    spec: { unschedulable: true },
  });
  await admin.must('POST', nodes, named('plain'));
});

const names = async (query: string) =>
  (await admin.list(`${nodes}?${query}`)).map(({ metadata }) => metadata.name).sort();

describe('selectors', () => {
  test('of labels', async () => {
    assert.deepEqual(await names('labelSelector=colour'), ['blue', 'red']);
    assert.deepEqual(await names('labelSelector=colour%3Dred'), ['red']);
    assert.deepEqual(await names('labelSelector=colour!%3Dred'), ['blue', 'plain']);
    assert.deepEqual(await names('labelSelector=colour%20in%20(red,blue)'), ['blue', 'red']);
    assert.deepEqual(await names('labelSelector=!colour'), ['plain']);
    assert.deepEqual(await names('labelSelector='), ['blue', 'plain', 'red']);
  });

  test('of labels that are called as what every object has', async () => {
    assert.deepEqual(await names('labelSelector=constructor'), ['red']);
    assert.deepEqual(await names('labelSelector=toString'), []);
    assert.deepEqual(await names('labelSelector=!hasOwnProperty'), ['blue', 'plain', 'red']);
    await admin.refused('BadRequest', 'GET', `${nodes}?labelSelector=__proto__`);
  });

  test('of fields', async () => {
    assert.deepEqual(await names('fieldSelector=metadata.name%3Dred'), ['red']);
    assert.deepEqual(await names('fieldSelector=metadata.name!%3Dred'), ['blue', 'plain']);
    assert.deepEqual(await names('fieldSelector=spec.unschedulable%3Dtrue'), ['blue']);
    assert.deepEqual(await names('fieldSelector=metadata.name%3Dred&labelSelector=colour%3Dblue'), []);
  });

  test('the first of two parameters of one name counts', async () => {
    assert.deepEqual(await names('labelSelector=colour%3Dred&labelSelector=colour%3Dblue'), ['red']);
  });
});

describe('pretty', () => {
  test('indents, and what is no truth is no wish and no error', async () => {
    for (const value of ['true', '1', 'True', '']) {
      const { text } = await admin.request('GET', `${nodes}/red?pretty=${value}`);
      assert.match(text, /^\{\n {2}"kind": "Node"/);
      assert.ok(text.endsWith('}\n'));
    }
    for (const value of ['false', '0', 'perhaps']) {
      const { text } = await admin.request('GET', `${nodes}/red?pretty=${value}`);
      assert.match(text, /^\{"kind":"Node"/);
    }
    const reply = await admin.request('POST', `${nodes}?pretty=perhaps`, { body: named('indifferent') });
    assert.equal(reply.code, 201);
    await admin.request('DELETE', `${nodes}/indifferent`);
  });
});

describe('Table', () => {
  test('of a list, as kubectl asks for it', async () => {
    const reply = await admin.request('GET', nodes, { headers: { accept: kubectl } });
    const table = JSON.parse(reply.text);
    assert.equal(table.kind, 'Table');
    assert.equal(table.apiVersion, 'meta.k8s.io/v1');
    assert.match(table.metadata.resourceVersion, /^\d+$/);
    const columns = table.columnDefinitions.map(({ name }: { name: string }) => name);
    assert.deepEqual(columns.slice(0, 3), ['Name', 'Status', 'Roles']);
    for (const row of table.rows) {
      assert.equal(row.cells.length, columns.length);
      assert.equal(row.object.kind, 'PartialObjectMetadata');
      assert.equal(row.object.apiVersion, 'meta.k8s.io/v1');
      assert.equal(row.object.metadata.name, row.cells[0]);
      assert.equal(row.object.spec, undefined);
    }
  });

  test('of one object, with what includeObject says', async () => {
    const rowOf = async (include: string) => {
      const path = `${nodes}/red${include}`;
      return JSON.parse((await admin.request('GET', path, { headers: { accept: kubectl } })).text);
    };
    const table = await rowOf('');
    assert.equal(
      table.metadata.resourceVersion,
      (await admin.must('GET', `${nodes}/red`)).metadata.resourceVersion,
    );
    assert.equal((await rowOf('?includeObject=None')).rows[0].object, undefined);
    assert.equal((await rowOf('?includeObject=Object')).rows[0].object.kind, 'Node');
    assert.equal((await rowOf('?includeObject=Metadata')).rows[0].object.kind, 'PartialObjectMetadata');
    await admin.refused('BadRequest', 'GET', `${nodes}/red?includeObject=All`, {
      headers: { accept: kubectl },
    });
  });

  test('an empty list is a table without rows', async () => {
    const reply = await admin.request('GET', leases('default'), { headers: { accept: kubectl } });
    assert.deepEqual(JSON.parse(reply.text).rows, []);
  });

  test('is to be had from a write too', async () => {
    const reply = await admin.request('POST', nodes, {
      headers: { accept: tableType },
      body: named('written'),
    });
    assert.equal(reply.code, 201);
    const table = JSON.parse(reply.text);
    assert.equal(table.kind, 'Table');
    assert.equal(table.rows[0].object.metadata.name, 'written');
  });

  test('events of a watch come as tables too', async () => {
    using watch = await admin.watch(`${leases('default')}?resourceVersion=0`, { accept: kubectl });
    await admin.must('POST', leases('default'), lease('shown'));
    const { type, object } = await watch.next();
    assert.equal(type, 'ADDED');
    assert.equal(object.kind, 'Table');
    assert.match(JSON.stringify(object), /"cells":\["shown"/);
  });
});

describe('Accept', () => {
  const kindFor = async (accept: string) =>
    JSON.parse((await admin.request('GET', nodes, { headers: { accept } })).text).kind;

  test('the best of several, with wildcards and quality', async () => {
    assert.equal(await kindFor('*/*'), 'NodeList');
    assert.equal(await kindFor('application/*'), 'NodeList');
    assert.equal(await kindFor('text/html, application/json;q=0.1'), 'NodeList');
    assert.equal(await kindFor(`application/json;q=0.5, ${tableType}`), 'Table');
    assert.equal(await kindFor(`application/json, ${tableType};q=0.5`), 'NodeList');
    assert.equal(await kindFor(`application/json;as=Table;g=meta.k8s.io;v=v9, application/json`), 'NodeList');
  });
});

describe('as=Table;v=v1beta1', () => {
  const beta = { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' };

  test('is served: objects, lists and watches', async () => {
    for (const path of [nodes, `${nodes}/red`]) {
      const { text } = await admin.request('GET', path, { headers: beta });
      const { kind, apiVersion, columnDefinitions } = JSON.parse(text);
      assert.deepEqual([kind, apiVersion], ['Table', 'meta.k8s.io/v1beta1'], path);
      assert.equal(columnDefinitions[0].name, 'Name');
    }
  });
});

describe('columns', () => {
  const definitions = async (path: string) => {
    const { text } = await admin.request('GET', path, { headers: { accept: tableType } });
    const shown: { name: string; type: string; format: string }[] = JSON.parse(text).columnDefinitions;
    return new Map(shown.map(({ name, type, format }) => [name, `${type} ${format}`.trim()]));
  };

  test('have the types of the reference: numbers of things are text', async () => {
    for (const [path, name] of [
      ['/api/v1/configmaps', 'Data'],
      ['/api/v1/secrets', 'Data'],
      ['/api/v1/serviceaccounts', 'Secrets'],
      ['/api/v1/events', 'Count'],
      ['/apis/events.k8s.io/v1/events', 'Count'],
    ] as const)
      assert.equal((await definitions(path)).get(name), 'string', path);
    assert.equal((await definitions('/apis/storage.k8s.io/v1/csinodes')).get('Drivers'), 'integer');
  });

  test('Name has the format name, of events too', async () => {
    for (const path of [nodes, '/api/v1/events', '/apis/events.k8s.io/v1/events'])
      assert.equal((await definitions(path)).get('Name'), 'string name', path);
  });
});
