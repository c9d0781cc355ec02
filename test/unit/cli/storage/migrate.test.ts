import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNextStep, parsePlace } from '../../../../src/cli/storage/migrate.ts';

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
