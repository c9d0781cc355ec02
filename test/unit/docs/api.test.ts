import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { groupName, servedKinds } from '../../../src/api/index.ts';

const page = await readFile(join(import.meta.dirname, '../../../docs/api.md'), 'utf8');

test('docs/api.md lists exactly the kinds that are served, with their subresources', () => {
  const section = page.slice(page.indexOf('## Kinds'), page.indexOf('## Encodings'));
  const listed = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| group'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1)
        .join('|'),
    );
  const served = servedKinds.map(({ group, kind, resource, subresources, createOnUpdate }) => {
    const parts = subresources.map(({ name }) => name).join(', ');
    return [groupName(group, 'k8s.io') || 'core', kind, resource, parts, createOnUpdate ? 'yes' : ''].join(
      '|',
    );
  });
  assert.deepEqual(listed.sort(), served.sort());
});
