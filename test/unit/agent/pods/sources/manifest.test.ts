import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Judgement } from '../../../../../src/agent/pods/sources/manifest.ts';
import { judgeManifest } from '../../../../../src/agent/pods/sources/manifest.ts';
import { loadYamlReader } from '../../../../../src/api/index.ts';
import { manifest } from '../support.ts';

const readYaml = await loadYamlReader();

function judge(text: string | Uint8Array, file = 'web.yaml', nodeName = 'n1'): Judgement {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return judgeManifest({ file, bytes }, { nodeName, readYaml });
}

function accepted(text: string, file?: string, nodeName?: string) {
  const judgement = judge(text, file, nodeName);
  assert.ok('pod' in judgement, JSON.stringify(judgement));
  return judgement;
}

function faults(text: string | Uint8Array, file?: string): string[] {
  const judgement = judge(text, file);
  assert.ok('faults' in judgement, 'it was accepted');
  return judgement.faults.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
}

describe('a manifest that is right', () => {
  test('becomes a pod of this node with the marks of the reference', () => {
    const { pod, hash } = accepted(manifest('web'));
    assert.equal(pod.metadata?.name, 'web-n1');
    assert.equal(pod.metadata?.namespace, 'default');
    assert.equal(pod.metadata?.uid, hash);
    assert.deepEqual(pod.metadata?.annotations, {
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': hash,
    });
    assert.equal(pod.spec?.nodeName, 'n1');
    assert.deepEqual(pod.spec?.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
    assert.equal(pod.spec?.restartPolicy, 'Always', 'defaults are filled in');
    assert.equal(pod.status, undefined, 'whoever runs it says what becomes of it');
  });

  test('has another hash with another content, file or node, and the same whatever the order of its keys', () => {
    const { hash } = accepted(manifest('web'));
    const reordered =
      'kind: Pod\napiVersion: v1\nspec: {containers: [{image: "app:1", name: main}]}\nmetadata: {name: web}';
    assert.equal(accepted(reordered).hash, hash);
    const json = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'main', image: 'app:1' }] },
    });
    assert.notEqual(accepted(json, 'web.json').hash, hash);
    assert.notEqual(accepted(manifest('web', 'app:2')).hash, hash);
    assert.notEqual(accepted(manifest('web'), 'other.yaml').hash, hash);
    assert.notEqual(accepted(manifest('web'), 'web.yaml', 'n2').hash, hash);
  });

  test('keeps its uid, yet another content is still another pod', () => {
    const withUid = (image: string) => manifest('web', image).replace('name: web', 'name: web\n  uid: u1');
    const [one, two] = [accepted(withUid('app:1')), accepted(withUid('app:2'))];
    assert.equal(one.pod.metadata?.uid, 'u1');
    assert.notEqual(one.hash, two.hash);
  });

  test('that names another node is told so', () => {
    const { pod, warnings } = accepted(manifest('web', 'app:1', '  nodeName: elsewhere\n'));
    assert.equal(pod.spec?.nodeName, 'n1');
    assert.match(warnings.join(), /spec\.nodeName: "elsewhere" is replaced by the name of this node, "n1"/);
  });

  test('may be one document with marks around it', () => {
    assert.equal(accepted(`---\n${manifest('web')}...\n`).pod.metadata?.name, 'web-n1');
  });
});

describe('a manifest that is wrong is refused with the field', () => {
  const cases: Record<string, [text: string, expected: RegExp]> = {
    'an empty file': ['', /^kind: Required value: the file is empty/],
    'several documents': [`${manifest('a')}---\n${manifest('b')}`, /more than one document/],
    'no YAML': ['a: [1', /\d+/],
    'another kind': [
      'apiVersion: apps/v1\nkind: Deployment\n',
      /^apiVersion: Unsupported value: "apps\/v1".*\nkind: Unsupported value/,
    ],
    'a list': ['- a', /^apiVersion: Unsupported value/],
    'no type': ['metadata: {name: a}', /^apiVersion: Unsupported value: "".*"v1"/],
    'an unknown field': [
      manifest('a', 'app:1', '      imgePullPolicy: Always\n'),
      /^unknown field "spec\.containers\[0\]\.imgePullPolicy"$/,
    ],
    'a field twice': [
      manifest('a', 'app:1', '      image: app:2\n'),
      /^duplicate field "spec\.containers\[0\]\.image"$/,
    ],
    'a wrong type': [
      manifest('a', 'app:1', '      ports: 80\n'),
      /spec\.containers\[0\]\.ports: expected a list/,
    ],
    'no name': [manifest('""'), /^metadata\.name: Required value/],
    'a bad name': [manifest('A_B'), /^metadata\.name: Invalid value: "A_B-n1"/],
    'a long name': [manifest('a'.repeat(252)), /^metadata\.name: /],
    'a uid that can name no folder': [
      manifest('a').replace('name: a', 'name: a\n  uid: ../../x'),
      /^metadata\.uid: Invalid value: "\.\.\/\.\.\/x": it may have 128 letters, digits/,
    ],
    'no containers': [
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}',
      /^spec\.containers: Required value/,
    ],
    'no spec': ['apiVersion: v1\nkind: Pod\nmetadata: {name: a}', /spec\.containers: Required value/],
    'a bad value': [
      manifest('a', 'app:1', '      imagePullPolicy: Often\n'),
      /^spec\.containers\[0\]\.imagePullPolicy: Unsupported value: "Often"/,
    ],
    'an owner': [
      manifest('a').replace('name: a', 'name: a\n  finalizers: [x.y/z]'),
      /^metadata\.finalizers: Forbidden/,
    ],
    'a mark of mirrors': [
      manifest('a').replace('name: a', 'name: a\n  annotations: {kubernetes.io/config.mirror: x}'),
      /config\.mirror\]: Forbidden/,
    ],
    'a service account': [
      manifest('a', 'app:1', '  serviceAccountName: s\n'),
      /^spec\.serviceAccountName: Forbidden: a static pod may not refer to a service account/,
    ],
    'a secret volume': [
      manifest('a', 'app:1', '  volumes: [{name: v, secret: {secretName: s}}]\n'),
      /^spec\.volumes\[0\]\.secret: Forbidden: .* a secret/,
    ],
    'a projected token': [
      manifest(
        'a',
        'app:1',
        '  volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]\n',
      ),
      /^spec\.volumes\[0\]\.projected\.sources\[0\]\.serviceAccountToken: Forbidden/,
    ],
    'a config map in the environment': [
      manifest('a', 'app:1', '      env: [{name: E, valueFrom: {configMapKeyRef: {name: c, key: k}}}]\n'),
      /^spec\.containers\[0\]\.env\[0\]\.valueFrom\.configMapKeyRef: Forbidden: .* a config map/,
    ],
    'a secret to pull with': [
      manifest('a', 'app:1', '  imagePullSecrets: [{name: s}]\n'),
      /^spec\.imagePullSecrets\[0\]: Forbidden/,
    ],
  };
  for (const [what, [text, expected]] of Object.entries(cases))
    test(what, () => assert.match(faults(text).join('\n'), expected));

  test('bytes that are no text', () => assert.match(faults(Buffer.from([0xff, 0xfe])).join(), /UTF-8/));

  test('JSON with the place', () => assert.match(faults('{"kind": ', 'a.json').join(), /\d/));

  test('and a value of a megabyte is not told whole', () => {
    const [told = ''] = faults(manifest('a', 'app:1', `      imagePullPolicy: ${'x'.repeat(500_000)}\n`));
    assert.ok(told.length < 600, `${told.length}`);
  });

  test('and what stands in the wrong place is not shown: it may be a password', () => {
    const env = '      env: [{name: PIN, value: 271828}, s3cret-1]\n      command: s3cret-2\n';
    const told = faults(manifest('a', 'app:1', env)).join('\n');
    assert.match(told, /env\[0\]\.value: expected a string, found a number/);
    assert.doesNotMatch(told, /271828|s3cret/);
  });

  test('and a thousand mistakes are not all told', () => {
    const volumes = Array.from({ length: 1000 }, (_, at) => `{name: v${at}, secret: {secretName: s}}`).join(
      ', ',
    );
    assert.equal(faults(manifest('a', 'app:1', `  volumes: [${volumes}]\n`)).length, 20);
  });
});

test('a manifest cut off anywhere is judged without an exception, and says nothing that the whole does not', () => {
  const whole = manifest('web', 'app:1', '      args: [one, two]\n  hostNetwork: true\n');
  fc.assert(
    fc.property(fc.nat(whole.length), (length) => {
      const judgement = judge(whole.slice(0, length));
      assert.ok('pod' in judgement || judgement.faults.length > 0);
    }),
  );
});

test('no bytes whatsoever make the judge fail', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('a.yaml', 'a.json'), (bytes, file) => {
      const judgement = judge(bytes, file);
      assert.ok('faults' in judgement);
    }),
  );
});
