import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';

const misspelt = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'one', labls: {} },
  spec: { holderIdentity: 'ann', holder: 'bob' },
};
/** As bytes: kubectl itself would read the file and keep the last. */
const twice =
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"immutable":false,"immutable":true}';

/** From 1.25 on the server validates; before, kubectl does it by itself with what /openapi/v2 says. */
export function validationSuite(open: OpenShell, { minor }: Release): void {
  describe('--validate', () => {
    if (minor < 25) {
      test('true: the client refuses unknown fields and wrong types by the server’s description', async () => {
        await using shell = await open();
        const refused = await shell.fails('create --validate=true -f -', misspelt);
        assert.match(
          refused,
          /unknown field "labls" in io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1\.ObjectMeta/,
        );
        assert.match(refused, /unknown field "holder" in io\.k8s\.api\.coordination\.v1\.LeaseSpec/);
        const wrong = { ...configMap('two'), data: ['not a map'] };
        assert.match(
          await shell.fails('create -f -', wrong),
          /invalid type for .*ConfigMap\.data: got "array"/,
        );
      });

      test('false: what is unknown is sent and dropped', async () => {
        await using shell = await open();
        await shell.ok('create --validate=false -f -', misspelt);
        assert.doesNotMatch(await shell.ok('get lease one -o json'), /labls|"holder"/);
      });
      return;
    }

    test('strict: every unknown field is refused', async () => {
      await using shell = await open();
      for (const level of ['strict', 'true']) {
        const refused = await shell.fails(`create --validate=${level} -f -`, misspelt);
        assert.match(refused, /unknown field "(metadata\.)?labls"/);
        assert.match(refused, /unknown field "(spec\.)?holder"/);
      }
      const raw = `/apis/coordination.k8s.io/v1/namespaces/${shell.namespace}/leases?fieldValidation=Strict`;
      const said = await shell.fails(`create --raw ${raw} -f -`, misspelt);
      assert.match(said, /\(BadRequest\): .*unknown field "metadata\.labls", unknown field "spec\.holder"$/m);
    });

    test('a field that is there twice is refused when strict, and else told', async () => {
      await using shell = await open();
      const path = `/api/v1/namespaces/${shell.namespace}/configmaps?fieldValidation=`;
      const refused = await shell.fails(`create --raw ${path}Strict -f -`, twice);
      assert.match(refused, /duplicate field "immutable"/);
      const { code, stderr } = await shell.run(`create --raw ${path}Warn -f -`, twice);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: 'Warning: duplicate field "immutable"\n' });
    });

    test('warn: the object is stored without them and each is told', async () => {
      await using shell = await open();
      const { code, stdout, stderr } = await shell.run('create --validate=warn -f -', misspelt);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, 'lease.coordination.k8s.io/one created\n');
      assert.match(stderr, /^Warning: unknown field "metadata\.labls"$/m);
      assert.match(stderr, /^Warning: unknown field "spec\.holder"$/m);
      assert.doesNotMatch(await shell.ok('get lease one -o json'), /labls|"holder"/);
    });

    test('ignore: nothing is told', async () => {
      await using shell = await open();
      const { code, stderr } = await shell.run('create --validate=ignore -f -', misspelt);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    });

    test('a wrong type is refused whatever the level', async () => {
      await using shell = await open();
      const wrong = { ...configMap('two'), data: ['not a map'] };
      for (const level of ['strict', 'warn', 'ignore']) {
        assert.match(await shell.fails(`create --validate=${level} -f -`, wrong), /data/);
      }
    });
  });
}
