import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Release } from '../release.ts';
import { reviews, stored } from '../served.ts';
import type { OpenShell } from '../shell.ts';

export function explainSuite(open: OpenShell, { minor }: Release): void {
  describe('explain', () => {
    test('describes every kind, its fields and, recursively, theirs', async () => {
      await using shell = await open();
      for (const [name, apiVersion, , kind] of [...stored, ...reviews]) {
        const text = await shell.ok(`explain ${name} --api-version=${apiVersion}`);
        assert.match(text, new RegExp(`^KIND: +${kind}$`, 'm'));
        assert.match(text, /^DESCRIPTION:\n +\w+/m, `${kind} is described`);
        assert.match(text, /^FIELDS:\n +\w+\t</m, `${kind} has fields`);
        const deep = await shell.ok(`explain ${name} --api-version=${apiVersion} --recursive`);
        assert.match(deep, /^ +metadata\t<\w+>\n +annotations\t<map\[string\]string>\n/m, kind);
      }
    });

    test('follows a path of fields', async () => {
      await using shell = await open();
      const containers = await shell.ok('explain pods.spec.containers');
      assert.match(containers, /^(RESOURCE|FIELD): containers <\[\](Object|Container)>$/m);
      assert.match(containers, /^ +image\t<string>/m);
      const verbs = await shell.ok('explain role.rules.verbs --api-version=rbac.authorization.k8s.io/v1');
      assert.match(verbs, /^FIELD: +verbs <\[\]string>/m);
      assert.match(await shell.ok('explain leases.spec'), /^ +renewTime\t<string>/m);
      assert.match(
        await shell.ok('explain nodes.status.capacity'),
        /capacity <map\[string\](string|Quantity)>/,
      );
      assert.match(await shell.fails('explain pods.spec.nothing'), /field "nothing" does not exist/);
    });

    test('shows what must be there', async () => {
      await using shell = await open();
      assert.match(await shell.ok('explain rolebinding'), /^ +roleRef\t<\w+> -required-$/m);
      assert.match(await shell.ok('explain role.rules'), /^ +verbs\t<\[\]string> -required-$/m);
    });

    if (minor >= 27) {
      test('from the older description, too', async () => {
        await using shell = await open();
        const text = await shell.ok('explain configmaps --output=plaintext-openapiv2');
        assert.match(text, /^ +binaryData\t<map\[string\]string>$/m);
      });
    }
  });
}
