import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { narrowBySelectors } from '../../../../../src/apiserver/http/admission/selectors.ts';
import { startServer } from '../../support/index.ts';

const off = { AuthorizeWithSelectors: false };
const on = { AuthorizeWithSelectors: true };

function named(verb: string, fieldSelector: string, gates = off): string | undefined {
  return narrowBySelectors(verb, new URLSearchParams({ fieldSelector }), gates)?.name;
}

describe('what selectors tell the authorizers', () => {
  test('a list and a watch of one name are asked for by that name', () => {
    assert.equal(named('list', 'metadata.name=web'), 'web');
    assert.equal(named('watch', 'metadata.namespace!=x,metadata.name==web'), 'web');
    assert.equal(named('list', 'metadata.name=web', on), 'web');
  });

  test('other selectors name nothing, and neither does what could be no name', () => {
    for (const text of ['', 'metadata.name!=web', 'metadata.namespace=web', 'metadata.name=']) {
      assert.equal(named('list', text), undefined, text);
    }
    for (const name of ['.', '..', 'a/b', 'a%2fb']) {
      assert.equal(named('list', `metadata.name=${name}`), undefined, name);
    }
    assert.equal(
      named('list', 'metadata.name=web,oops'),
      undefined,
      'what is not understood is not believed',
    );
  });

  test('a collection is never deleted by the right to one name, nor is anything else', () => {
    for (const verb of ['deletecollection', 'get', 'create', 'delete']) {
      assert.equal(named(verb, 'metadata.name=web'), undefined, verb);
    }
    assert.equal(named('deletecollection', 'metadata.name=web', on), '');
  });

  test('the selectors themselves are passed on where the gate says so', () => {
    const query = new URLSearchParams({ fieldSelector: 'metadata.name=web', labelSelector: 'a=b' });
    assert.equal(narrowBySelectors('list', query, off)?.selectors, undefined);
    assert.deepEqual(narrowBySelectors('deletecollection', query, on)?.selectors, {
      fields: [{ field: 'metadata.name', operator: '=', value: 'web' }],
      labels: [{ key: 'a', operator: 'In', values: ['b'] }],
    });
    query.set('labelSelector', 'a in (');
    assert.deepEqual(narrowBySelectors('list', query, on)?.selectors?.labels, []);
    assert.equal(narrowBySelectors('list', new URLSearchParams('limit=5'), on), undefined);
  });
});

test('the refusal of a list by name says which name', async () => {
  await using server = await startServer();
  const maps = '/api/v1/namespaces/default/configmaps';
  const refusal = async (path: string) => (await server.stranger.request('GET', path)).text;
  assert.match(
    await refusal(`${maps}?fieldSelector=metadata.name%3Dweb`),
    /configmaps \\"web\\" is forbidden/,
  );
  assert.match(await refusal(`${maps}?watch=1&fieldSelector=metadata.name%3Dweb`), /\\"web\\".*cannot watch/);
  assert.match(await refusal(maps), /configmaps is forbidden/);
});
