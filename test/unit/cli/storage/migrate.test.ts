import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextStep } from '../../../../src/cli/storage/migrate.ts';
import { place } from '../../../../src/cli/storage/place.ts';

test('after a migration the servers are to be started where the objects are, prefix and all', () => {
  const etcd = place('etcd:http://a:2379,http://b:2379');
  assert.match(
    nextStep(etcd, undefined),
    / --storage etcd --etcd-servers http:\/\/a:2379,http:\/\/b:2379\n$/,
  );
  assert.match(
    nextStep(etcd, '/two'),
    / --etcd-servers http:\/\/a:2379,http:\/\/b:2379 --etcd-prefix \/two\n$/,
  );
  assert.match(nextStep(place('sqlite:/srv/nodeward'), '/two'), / --root-dir \/srv\/nodeward\n$/);
});
