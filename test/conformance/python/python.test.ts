/** The Python client of Debian 12, as its users use it: the test cases are in the Python files beside this one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fetched } from '../../integration/lab/index.ts';
import type { TemporaryFolder } from '../../support/index.ts';
import { runCommand, temporaryFolder } from '../../support/index.ts';
import type { ControlPlane } from '../control-plane/index.ts';
import { startControlPlane } from '../control-plane/index.ts';

let controlPlane: ControlPlane;
let home: TemporaryFolder;
before(async () => {
  home = await temporaryFolder('python-');
  controlPlane = await startControlPlane();
});
after(async () => {
  await controlPlane?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const cases = [
  'objects.Objects.test_config_map',
  'objects.Objects.test_collections',
  'objects.Objects.test_pod',
  'objects.Objects.test_lease',
  'objects.Objects.test_roles',
  'objects.Objects.test_events',
  'objects.Objects.test_cluster_wide',
  'objects.Objects.test_csi_node',
  'objects.Reviews',
  'patches.Patches',
  'watching.Watching',
  'dynamic.Dynamic',
];

for (const name of cases) {
  test(name, async () => {
    const { code, stdout, stderr } = await runCommand(
      fetched('python/bin/python3'),
      ['-B', '-W', 'ignore::ResourceWarning', '-m', 'unittest', '--verbose', name],
      {
        cwd: import.meta.dirname,
        timeoutMs: 120_000,
        // the dynamic client keeps what it discovers in the folder for temporary files
        env: {
          HOME: home.path,
          TMPDIR: home.path,
          KUBECONFIG: controlPlane.kubeconfig,
          PATH: process.env['PATH'],
        },
      },
    );
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(stderr, /^Ran [1-9]\d* tests? in /m);
  });
}
