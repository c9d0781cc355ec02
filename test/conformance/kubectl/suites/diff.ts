import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap, pod } from '../manifests.ts';
import type { OpenShell } from '../shell.ts';

/** What apply would change, found out by dry runs: ends with 1 where something would change, else with 0. */
export function diffSuite(open: OpenShell): void {
  describe('diff', () => {
    for (const [side, flag] of [
      ['client', ''],
      ['server', ' --server-side'],
    ]) {
      test(`on the ${side}’s side: of something new, of no change, and of a change`, async () => {
        await using shell = await open();
        const diff = (data: Record<string, string>) => shell.run(`diff${flag} -f -`, configMap('one', data));
        const fresh = await diff({ a: '1' });
        assert.equal(fresh.code, 1, fresh.stderr);
        assert.match(fresh.stdout, /^\+data:\n\+ {2}a: "1"\n\+kind: ConfigMap$/m);

        await shell.ok(`apply${flag} -f -`, configMap('one', { a: '1', b: '1' }));
        const before = await shell.ok('get configmap one -o json');
        const same = await diff({ a: '1', b: '1' });
        assert.deepEqual({ code: same.code, stdout: same.stdout }, { code: 0, stdout: '' }, same.stderr);
        const changed = await diff({ a: '2' });
        assert.equal(changed.code, 1, changed.stderr);
        assert.match(changed.stdout, /^- {2}a: "1"\n- {2}b: "1"\n\+ {2}a: "2"$/m);
        assert.equal(await shell.ok('get configmap one -o json'), before);
      });
    }

    test('shows one field of a pod, not what the server filled in', async () => {
      await using shell = await open();
      const web = (image: string) => pod('web', { containers: [{ name: 'main', image }] });
      await shell.ok('apply -f -', web('busybox:1'));
      const { code, stdout } = await shell.run('diff -f -', web('busybox:2'));
      assert.equal(code, 1);
      const changes = stdout.split('\n').filter((line) => /^[-+] /.test(line));
      // kubectl 1.20 shows the times of managedFields, too
      const ofTheSpec = changes.filter((line) => !/^[-+] +(?:generation|time): /.test(line));
      assert.deepEqual(ofTheSpec, ['-  - image: busybox:1', '+  - image: busybox:2']);
    });

    test('ends with more than 1 when it cannot tell', async () => {
      await using shell = await open();
      const { code, stderr } = await shell.run('diff -f -', configMap('Not_A_Name'));
      assert.ok(code !== null && code > 1, `${code}`);
      assert.match(stderr, /"Not_A_Name"/);
    });
  });
}
