import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentStatus, servedKinds } from '../../../../src/api/index.ts';
import { published, publishedGroup } from './published.ts';

/** Kinds that the reference serves and this server does not, each with the reason. */
const notServed: Readonly<Record<string, string>> = {
  'certificates/v1beta1 CertificateSigningRequest': 'served as v1',
  'certificates/v1beta1 PodCertificateRequest': 'off by default in the reference',
};

test('every stored kind of the published definitions is served, or there is a reason', () => {
  const served = new Set(
    [...servedKinds, componentStatus].map(
      ({ group, version, kind }) => `${publishedGroup(group, version)} ${kind}`,
    ),
  );
  const all = Object.entries(published).flatMap(([group, { kinds }]) =>
    kinds.map((kind) => `${group} ${kind}`),
  );
  assert.deepEqual(
    all.filter((kind) => !served.has(kind)),
    Object.keys(notServed),
  );
});
