import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusError } from '../../../../../src/api/index.ts';
import type { AnswerKind } from '../../../../../src/apiserver/http/negotiation/negotiate.ts';
import {
  negotiate,
  negotiateError,
  withInclude,
} from '../../../../../src/apiserver/http/negotiation/negotiate.ts';

const json = 'application/json';
const yaml = 'application/yaml';
const cluster = 'application/vnd.cluster.protobuf';
const kubernetes = 'application/vnd.kubernetes.protobuf';
const g = 'g=meta.k8s.io';
const table = `;as=Table;v=v1;${g}`;
const partial = `;as=PartialObjectMetadata;${g};v=v1`;
const partials = `;as=PartialObjectMetadataList;${g};v=v1`;
/** As kubectl asks; the old ones that of `v1beta1` too. */
const kubectl = `${json}${table},${json};as=Table;v=v1beta1;${g},${json}`;
/** As the metadata informers of client-go ask. */
const informer = (as: string) => `${kubernetes}${as},${json}${as},${json}`;

/** `form encoding mediaType`, or undefined for 406. */
function chosen(accept: string | undefined, answer: AnswerKind): string | undefined {
  try {
    const { form, mediaType, pretty } = negotiate(accept, answer, 'k8s.io');
    return `${form.as} ${form.encoding} ${mediaType}${pretty ? ' pretty' : ''}`;
  } catch (error) {
    assert.ok(error instanceof StatusError && error.reason === 'NotAcceptable');
    return undefined;
  }
}

const objectIn = { json: `object json ${json}`, yaml: `object yaml ${yaml}` };
const asKubernetes = `object protobuf ${kubernetes}`;
const asCluster = `object protobuf ${cluster}`;

const rows: readonly [accept: string | undefined, answer: AnswerKind, expected: string | undefined][] = [
  // nothing, and one of each
  [undefined, 'object', objectIn.json],
  ['', 'object', objectIn.json],
  ['  ', 'list', objectIn.json],
  [json, 'object', objectIn.json],
  [yaml, 'object', objectIn.yaml],
  [cluster, 'object', asCluster],
  [kubernetes, 'object', asKubernetes],
  ['APPLICATION/JSON', 'object', objectIn.json],
  [`${json};charset=utf-8`, 'object', objectIn.json],
  [`${json};pretty=1`, 'object', `${objectIn.json} pretty`],
  [`${json};pretty=0`, 'object', objectIn.json],
  // what is not served
  ['text/html', 'object', undefined],
  ['application/xml, image/*', 'list', undefined],
  ['application/cbor', 'object', undefined],
  ['application', 'object', undefined],
  [',', 'object', undefined],
  [`text/html, ${json};q=0.1`, 'object', objectIn.json],
  // wildcards
  ['*/*', 'object', objectIn.json],
  ['application/*', 'object', objectIn.json],
  ['text/*', 'object', undefined],
  ['text/*, */*;q=0.1', 'object', objectIn.json],
  [`*/*, ${yaml}`, 'object', objectIn.yaml],
  [`application/*, ${kubernetes}`, 'object', asKubernetes],
  [`*/*, application/*;q=0.5`, 'object', objectIn.json],
  // quality and order
  [`${kubernetes},${json}`, 'object', asKubernetes],
  [`${json},${kubernetes}`, 'object', objectIn.json],
  [`${json};q=0.5, ${yaml}`, 'object', objectIn.yaml],
  [`${yaml};q=0.5, ${json};q=0.6`, 'object', objectIn.json],
  [`${yaml};Q=0.5, ${json}; q=0.6`, 'object', objectIn.json],
  [`${yaml};q=x, ${json};q=0.6`, 'object', objectIn.yaml],
  [`${cluster};q=0.9,${kubernetes}`, 'object', asKubernetes],
  // refused by quality: the most exact entry decides
  [`${json};q=0`, 'object', undefined],
  [`${json};q=0, */*`, 'object', objectIn.yaml],
  ['*/*;q=0', 'object', undefined],
  [`application/*;q=0, ${yaml}`, 'object', objectIn.yaml],
  [`*/*, ${json};q=0.1`, 'object', objectIn.yaml],
  // tables
  [kubectl, 'object', `table json ${json}`],
  [kubectl, 'list', `table json ${json}`],
  [kubectl, 'watch', `table json ${json}`],
  [kubectl, 'status', objectIn.json],
  [`${yaml}${table}`, 'list', `table yaml ${yaml}`],
  [`${kubernetes}${table}`, 'list', undefined],
  [`${kubernetes}${table},${kubernetes}`, 'list', asKubernetes],
  [`application/*${table}`, 'list', `table json ${json}`],
  [`${json};q=0.5,${json}${table}`, 'list', `table json ${json}`],
  [`${json},${json}${table};q=0.5`, 'list', objectIn.json],
  [`${json};as=Table;v="v1";g="meta.k8s.io"`, 'list', `table json ${json}`],
  [`${json};as=Table;v=v1;${g};pretty=1`, 'list', `table json ${json} pretty`],
  [`${json};as=Table;v=v1beta1;${g}`, 'list', `table json ${json}`],
  [`${json};as=Table;v=v1beta1;${g},${json}`, 'list', `table json ${json}`],
  [`${json};as=Table;v=v1alpha1;${g},${json}`, 'list', objectIn.json],
  [`${json};as=PartialObjectMetadataList;v=v1beta1;${g}`, 'list', undefined],
  [`${json};as=Table;v=v1;g=meta.example.com,${json}`, 'list', objectIn.json],
  [`${json};as=Table`, 'list', undefined],
  [`${json};v=v1;${g}`, 'list', undefined],
  [`${json};as=Tisch;v=v1;${g},${yaml};q=0.1`, 'list', objectIn.yaml],
  // metadata alone
  [`${json}${partial}`, 'object', `partial json ${json}`],
  [`${yaml}${partial}`, 'object', `partial yaml ${yaml}`],
  [`${kubernetes}${partial}`, 'object', `partial protobuf ${kubernetes}`],
  [informer(partial), 'object', `partial protobuf ${kubernetes}`],
  [informer(partials), 'list', `partial protobuf ${kubernetes}`],
  [informer(partial), 'watch', `partial protobuf ${kubernetes}`],
  [informer(partial), 'status', asKubernetes],
  [`${json}${partial}`, 'list', undefined],
  [`${json}${partials}`, 'object', undefined],
  [`${json}${partials}`, 'watch', undefined],
  [`${json}${partial},${json}`, 'list', objectIn.json],
  // streams
  [`${json};stream=watch`, 'watch', objectIn.json],
  [`${kubernetes};stream=watch`, 'watch', asKubernetes],
  [`${kubernetes};stream=watch,${json}`, 'list', asKubernetes],
  [`${json};stream=river`, 'watch', undefined],
  [yaml, 'watch', undefined],
  [`${yaml},${json};q=0.1`, 'watch', objectIn.json],
  [`${yaml};stream=watch`, 'list', undefined],
  [`${yaml}${table},*/*`, 'watch', objectIn.json],
];

describe('Accept', () => {
  for (const [accept, answer, expected] of rows) {
    test(`${accept} for ${answer}: ${expected ?? 406}`, () => assert.equal(chosen(accept, answer), expected));
  }

  test('of another cluster’s suffix names its own group', () => {
    const accept = `${json};as=Table;v=v1;g=meta.example.com`;
    assert.equal(negotiate(accept, 'list', 'example.com').form.as, 'table');
    assert.throws(() => negotiate(accept, 'list', 'k8s.io'), StatusError);
  });

  test('a refusal lists what is served', () => {
    assert.throws(
      () => negotiate('text/html', 'watch', 'k8s.io'),
      (error) => {
        assert.ok(error instanceof StatusError);
        for (const type of [json, `${json};as=Table;g=meta.k8s.io;v=v1`, kubernetes, cluster]) {
          assert.ok(error.message.includes(type), type);
        }
        assert.doesNotMatch(error.message, /yaml/);
        return error.code === 406;
      },
    );
  });
});

test('errors are told in the client’s encoding, whatever form it asked for, else in JSON', () => {
  const encodingFor = (accept: string | undefined) => negotiateError(accept).form.encoding;
  for (const accept of [undefined, '', 'text/html', `${json};q=0`, kubectl, `${json};as=Tisch`, '*/*']) {
    assert.equal(encodingFor(accept), 'json', accept);
  }
  for (const accept of [yaml, `*/*, ${yaml}`, `${yaml}${table}`, `${json};q=0, */*`]) {
    assert.equal(encodingFor(accept), 'yaml', accept);
  }
  assert.equal(encodingFor(informer(partial)), 'protobuf');
  assert.equal(negotiateError(kubernetes).mediaType, kubernetes);
  assert.equal(negotiateError(cluster).mediaType, cluster);
  for (const accept of [undefined, kubectl, kubernetes])
    assert.equal(negotiateError(accept).form.as, 'object');
});

test('includeObject is of tables only', () => {
  const { form } = negotiate(kubectl, 'list', 'k8s.io');
  const include = (text: string) => withInclude(form, new URLSearchParams(text));
  assert.deepEqual(include(''), { as: 'table', encoding: 'json', include: 'Metadata', version: 'v1' });
  assert.deepEqual(include('includeObject='), form);
  for (const wanted of ['None', 'Metadata', 'Object']) {
    assert.deepEqual(include(`includeObject=${wanted}`), { ...form, include: wanted });
  }
  for (const wrong of ['none', 'All', '1']) {
    assert.throws(
      () => include(`includeObject=${wrong}`),
      /includeObject must be one of None, Metadata, Object/,
    );
  }
  const plain = negotiate(json, 'list', 'k8s.io').form;
  assert.deepEqual(withInclude(plain, new URLSearchParams('includeObject=All')), plain);
});
