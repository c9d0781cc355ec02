import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYamlReader } from '../../../../src/api/index.ts';
import { describeMoved, formatNextStep, parsePlace } from '../../../../src/cli/storage/migrate.ts';
import { written } from '../run-command.ts';

test('after a migration the servers are to be started where the objects are, prefix and all', () => {
  const etcd = parsePlace('etcd:http://a:2379,http://b:2379');
  assert.match(
    formatNextStep(etcd, undefined),
    / --storage etcd --etcd-servers http:\/\/a:2379,http:\/\/b:2379\n$/,
  );
  assert.match(
    formatNextStep(etcd, '/two'),
    / --etcd-servers http:\/\/a:2379,http:\/\/b:2379 --etcd-prefix \/two\n$/,
  );
  assert.match(formatNextStep(parsePlace('sqlite:/srv/nodeward'), '/two'), / --root-dir \/srv\/nodeward\n$/);
});

test('storage migrate, with every -o, on a terminal and in a pipe', async () => {
  const readYaml = await loadYamlReader();
  const report = { objects: 3, bytes: 2048, revision: 7 };
  const moved = { report, from: 'sqlite:/a', to: 'etcd:http://b:2379' };
  const document = { from: moved.from, to: moved.to, ...report };
  for (const terminal of [false, true]) {
    const tell = (output: 'text' | 'json' | 'yaml' | 'name') =>
      written(output, describeMoved(moved, 'now start it\n'), terminal).stdout;
    assert.deepEqual(JSON.parse(tell('json')), document);
    assert.deepEqual(readYaml(tell('yaml')).value, document);
    assert.equal(tell('name'), 'etcd:http://b:2379\n');
    assert.equal(
      tell('text'),
      '3 objects (2.0 KiB) moved from sqlite:/a to etcd:http://b:2379, revision 7\nnow start it\n',
    );
  }
});
