/** The package's entry `nodeward/testing` as its users have it: packed, and with kubectl. */
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApiServer } from '../../src/testing/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runCommand, runSuccessfully, temporaryFolder } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { kubectl, repository } from './lab/index.ts';

const compiler = join(repository, 'node_modules/.bin/tsc');

describe('the packed package', () => {
  let project: TemporaryFolder;
  const file = (name: string) => join(project.path, name);

  before(async () => {
    await ensureBuilt();
    project = await temporaryFolder();
    await install(project.path);
  });
  after(() => project?.[Symbol.asyncDispose]());

  async function run(name: string, text: string): Promise<string> {
    await writeFile(file(name), text);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env; // with it a test reports to a runner
    return await runSuccessfully(process.execPath, [file(name)], { cwd: project.path, env });
  }

  async function check(name: string, text: string, options: object) {
    await writeFile(file(name), text);
    const compilerOptions = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, ...options };
    const config = file(`${name}.json`);
    await writeFile(config, JSON.stringify({ files: [name], compilerOptions }));
    return await runCommand(compiler, ['-p', config], { cwd: project.path });
  }

  test('serves plain JavaScript, with none of its dependencies beside it', async () => {
    const printed = await run(
      'plain.mjs',
      `import { startApiServer } from 'nodeward/testing';
       for (const storage of ['memory', 'sqlite']) {
         await using server = await startApiServer({ storage });
         const client = await server.client();
         const { code, body } = await client.request('GET', '/api/v1/namespaces/default');
         console.log(storage, code, body.metadata.name);
       }`,
    );
    assert.equal(printed.trim(), 'memory 200 default\nsqlite 200 default');
  });

  test('on Node 20 import nodeward/testing dies with ERR_UNKNOWN_BUILTIN_MODULE: it says what it needs', async () => {
    const older = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });`;
    await writeFile(file('older.mjs'), `${older} await import('nodeward/testing');`);
    const { code, stderr } = await runCommand(process.execPath, [file('older.mjs')], { cwd: project.path });
    assert.equal(code, 1);
    assert.match(stderr, /^Error: nodeward needs Node\.js 24 or later; this is 20\.20\.2, \//m);
  });

  test('has nothing else to import', async () => {
    await assert.rejects(
      run('other.mjs', "import 'nodeward/dist/main.js';"),
      /ERR_PACKAGE_PATH_NOT_EXPORTED/,
    );
  });

  test('has types that need no other package, and that notice what is wrong', async () => {
    const text = `
      import type { Fault, TestApiServer } from 'nodeward/testing';
      import { startApiServer } from 'nodeward/testing';
      await using server: TestApiServer = await startApiServer({ storage: 'memory', port: 0 });
      const fault: Fault = server.faults.answer({ status: 503, match: ({ verb }) => verb === 'watch' });
      const hits: number = fault.hits;
      const version: string = await server.faults.expireHistory();
      // @ts-expect-error there is no such storage
      await startApiServer({ storage: 'floppy' });
      // @ts-expect-error there is no such part of a request
      server.faults.dropWatches({ colour: 'blue' });
      export { hits, version };`;
    const alone = { lib: ['esnext', 'dom'], types: [], skipLibCheck: false };
    const { code, stdout } = await check('typed.mts', text, alone);
    assert.equal(stdout, '');
    assert.equal(code, 0);
  });

  test('does what its page says: the example there is checked and run', async () => {
    const page = await readFile(join(repository, 'docs/testing.md'), 'utf8');
    const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1];
    assert.ok(example);
    const options = { types: ['node'], skipLibCheck: true, erasableSyntaxOnly: true };
    assert.equal((await check('example.mts', example, options)).stdout, '');
    assert.match(await run('example.mts', example), /^ℹ pass 1$/m);
  });
});

describe('kubectl', () => {
  test('works with the kubeconfig of a server inside this process, and bears its faults', async () => {
    await using home = await temporaryFolder();
    await using server = await startApiServer();
    const tool = kubectl(await server.kubeconfigFile(), home.path);
    const output = async (...argv: string[]) => {
      const { code, stdout, stderr } = await tool.run(argv);
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };

    assert.equal(
      await output('create', 'configmap', 'settings', '--from-literal=colour=blue'),
      'configmap/settings created',
    );
    const busy = server.faults.answer({
      status: 429,
      retryAfterSeconds: 1,
      times: 1,
      match: { resource: 'configmaps', name: 'settings' },
    });
    assert.equal(await output('get', 'configmap', 'settings', '-o', 'jsonpath={.data.colour}'), 'blue');
    assert.equal(busy.hits, 1, 'it was told to come again, and came');

    const full = server.faults.failStorage({ how: 'full', times: 1, match: { resource: 'configmaps' } });
    assert.equal(await output('create', 'configmap', 'more'), 'configmap/more created');
    assert.equal(full.hits, 1, 'there was room the second time');
  });
});

/** As npm does, but without a registry: the bundle needs none of the dependencies. What the example needs is lent. */
async function install(project: string): Promise<void> {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
  const env = { ...process.env, npm_config_cache: join(project, '.npm') };
  const [packed] = JSON.parse(
    await runSuccessfully('npm', pack, { cwd: repository, env, timeoutMs: 60_000 }),
  );
  const modules = join(project, 'node_modules');
  const own = join(modules, 'nodeward');
  await mkdir(own, { recursive: true });
  const archive = join(project, packed.filename);
  await runSuccessfully('tar', ['-xzf', archive, '--strip-components=1', '-C', own]);
  for (const name of ['@kubernetes', '@types']) {
    await symlink(join(repository, 'node_modules', name), join(modules, name));
  }
}
