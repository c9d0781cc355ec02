import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { findImports } from '../../../scripts/imports/source-file.ts';
import type { CommandResult } from '../../support/index.ts';
import { runCommand, temporaryFolder } from '../../support/index.ts';

const checker = resolve(import.meta.dirname, '../../../scripts/check-imports.ts');

/** Runs the checker over a repository with these files; one without text is empty. */
async function check(files: Record<string, string>): Promise<CommandResult> {
  await using root = await temporaryFolder();
  const description = {
    'package.json': JSON.stringify({ dependencies: { fastify: '5', '@grpc/grpc-js': '1' } }),
  };
  for (const [path, text] of Object.entries({ ...description, ...files })) {
    await mkdir(dirname(join(root.path, path)), { recursive: true });
    await writeFile(join(root.path, path), text);
  }
  return await runCommand(process.execPath, [checker, root.path]);
}

const importing = (specifier: string): string => `import { x } from '${specifier}';\n`;

describe('the import checker', () => {
  test('has nothing against a house in order', async () => {
    const result = await check({
      'src/main.ts': importing('./cli/index.ts') + importing('node:fs'),
      'src/cli/index.ts': importing('../agent/index.ts') + importing('../apiserver/http/index.ts'),
      'src/agent/index.ts': importing('./node/lease/index.ts') + importing('@grpc/grpc-js/build/x.js'),
      'src/agent/node/lease/index.ts': importing('./renew.ts') + importing('../../../client/index.ts'),
      'src/agent/node/lease/renew.ts': importing('./deeper/schedule.ts') + importing('../../lock/index.ts'),
      'src/agent/node/lease/deeper/schedule.ts': '',
      'src/agent/lock/index.ts': '',
      'src/apiserver/http/index.ts': importing('../handlers/index.ts') + importing('fastify'),
      'src/apiserver/handlers/index.ts': importing('../registry/index.ts') + importing('../authz/index.ts'),
      'src/apiserver/registry/index.ts': importing('../storage/index.ts'),
      'src/apiserver/storage/index.ts': importing('../../base/index.ts'),
      'src/apiserver/authz/index.ts': importing('../../api/index.ts'),
      'src/testing/index.ts': importing('../apiserver/storage/index.ts') + importing('../client/index.ts'),
      'src/client/index.ts': importing('../api/kinds/index.ts'),
      'src/api/kinds/index.ts': '',
      'src/api/index.ts': '',
      'src/base/index.ts': '',
      'test/unit/api/kinds.test.ts': importing('../../../src/api/kinds/index.ts'),
    });
    assert.equal(result.stdout.trim(), '17 files below src, 0 violations');
    assert.equal(result.code, 0);
  });

  const violations: Record<string, { files: Record<string, string>; complaint: string }> = {
    'an import upwards': {
      files: { 'src/base/a.ts': importing('../api/index.ts'), 'src/api/index.ts': '' },
      complaint: 'src/base/a.ts:1: base must not import api',
    },
    'an import of the server for tests by the program': {
      files: { 'src/main.ts': importing('./testing/index.ts'), 'src/testing/index.ts': '' },
      complaint: 'src/main.ts:1: main.ts must not import testing',
    },
    'an import of a command by the server for tests': {
      files: { 'src/testing/a.ts': importing('../cli/index.ts'), 'src/cli/index.ts': '' },
      complaint: 'src/testing/a.ts:1: testing must not import cli',
    },
    'an import of the agent by the control plane': {
      files: { 'src/apiserver/a.ts': importing('../agent/index.ts'), 'src/agent/index.ts': '' },
      complaint: 'src/apiserver/a.ts:1: apiserver must not import agent',
    },
    'an import of the control plane by the agent, of a type, over several lines': {
      files: {
        'src/agent/node/a.ts': `// a comment\nimport type {\n  X,\n} from '../../apiserver/index.ts';\n`,
        'src/apiserver/index.ts': '',
      },
      complaint: 'src/agent/node/a.ts:2: agent must not import apiserver',
    },
    'a re-export upwards': {
      files: { 'src/client/a.ts': `export * from '../cli/index.ts';\n`, 'src/cli/index.ts': '' },
      complaint: 'src/client/a.ts:1: client must not import cli',
    },
    'a lazy import upwards': {
      files: { 'src/api/a.ts': `const x = await import('../client/index.ts');\n`, 'src/client/index.ts': '' },
      complaint: 'src/api/a.ts:1: api must not import client',
    },
    'an import of main': {
      files: { 'src/cli/a.ts': importing('../main.ts'), 'src/main.ts': '' },
      complaint: 'src/cli/a.ts:1: cli must not import main.ts',
    },
    'storage that knows the registry': {
      files: {
        'src/apiserver/storage/a.ts': importing('../registry/index.ts'),
        'src/apiserver/registry/index.ts': '',
      },
      complaint: 'src/apiserver/storage/a.ts:1: apiserver/storage must not import apiserver/registry',
    },
    'a room of the agent that imports one above it': {
      files: { 'src/agent/node/a.ts': importing('../server/index.ts'), 'src/agent/server/index.ts': '' },
      complaint: 'src/agent/node/a.ts:1: agent/node must not import agent/server',
    },
    'a room that imports one beside it': {
      files: { 'src/agent/volumes/a.ts': importing('../seccomp/index.ts'), 'src/agent/seccomp/index.ts': '' },
      complaint: 'src/agent/volumes/a.ts:1: agent/volumes must not import agent/seccomp',
    },
    'a room that imports a file that stands beside the rooms': {
      files: { 'src/apiserver/http/a.ts': importing('../api-server.ts'), 'src/apiserver/api-server.ts': '' },
      complaint: 'src/apiserver/http/a.ts:1: apiserver/http must not import apiserver',
    },
    'a room that is in no layer': {
      files: { 'src/agent/attic/a.ts': importing('node:fs') },
      complaint: 'src/agent/attic/a.ts:1: src/agent/attic is in no layer of scripts/imports/rules.ts',
    },
    'a folder of the house that is in no layer': {
      files: { 'src/cellar/a.ts': '' },
      complaint: 'src/cellar/a.ts:1: src/cellar is in no layer of scripts/imports/rules.ts',
    },
    'a module reached past its index': {
      files: {
        'src/agent/server/a.ts': importing('../node/b.ts'),
        'src/agent/node/b.ts': '',
        'src/agent/node/index.ts': '',
      },
      complaint: 'src/agent/server/a.ts:1: src/agent/node/b.ts is reached past src/agent/node/index.ts',
    },
    "a module's child reached past its index": {
      files: {
        'src/agent/index.ts': importing('./node/lease/renew.ts'),
        'src/agent/node/index.ts': '',
        'src/agent/node/lease/renew.ts': '',
        'src/agent/node/lease/index.ts': '',
      },
      complaint:
        'src/agent/index.ts:1: src/agent/node/lease/renew.ts is reached past src/agent/node/lease/index.ts',
    },
    'a file in a folder that belongs to the module above it': {
      files: {
        'src/cli/a.ts': importing('../api/kinds/nodes/node.ts'),
        'src/api/kinds/nodes/node.ts': '',
        'src/api/kinds/index.ts': '',
      },
      complaint: 'src/cli/a.ts:1: src/api/kinds/nodes/node.ts is reached past src/api/kinds/index.ts',
    },
    'production code that imports a test': {
      files: { 'src/api/a.ts': importing('../../test/support/index.ts'), 'test/support/index.ts': '' },
      complaint: 'src/api/a.ts:1: ../../test/support/index.ts is outside src',
    },
    'a package that is not declared': {
      files: { 'src/api/a.ts': importing('@grpc/proto-loader') },
      complaint: 'src/api/a.ts:1: @grpc/proto-loader is not among the dependencies of package.json',
    },
    'a cycle, also of types': {
      files: {
        'src/api/a.ts': importing('./b.ts'),
        'src/api/b.ts': `import type { X } from './c.ts';\n`,
        'src/api/c.ts': importing('./a.ts'),
      },
      complaint: 'src/api/a.ts: import cycle src/api/a.ts → src/api/b.ts → src/api/c.ts → src/api/a.ts',
    },
    'a cycle that leads away from the file it is found from': {
      files: {
        'src/api/a.ts': importing('./b.ts'),
        'src/api/b.ts': importing('./c.ts'),
        'src/api/c.ts': importing('./b.ts'),
      },
      complaint: 'src/api/b.ts: import cycle src/api/b.ts → src/api/c.ts → src/api/b.ts',
    },
  };
  for (const [what, { files, complaint }] of Object.entries(violations)) {
    test(`finds ${what}`, async () => {
      const result = await check(files);
      assert.equal(result.stdout.split('\n')[0], complaint);
      assert.equal(result.code, 1);
    });
  }

  test('a root without sources is no success', async () => {
    assert.equal((await check({})).code, 1);
  });

  test('sees every form of import and no prose', () => {
    const text = `import './side-effect.ts';
import one, { two } from './both.ts';
import * as all from "./all.ts";
import type One from './default.ts';
export { three } from './three.ts';
export type { Four } from './four.ts';
export * from './five.ts';
export * as six from './six.ts';
type Seven = import('./seven.ts').Seven;
export const text = "import { x } from './no.ts'";
export function from(x = './no.ts') {}
/**
 * import { x } from './no.ts';
 */
`;
    const names = findImports('src/a/file.ts', text).map(({ target }) => target?.replace('src/a/', ''));
    assert.deepEqual(names, [
      ...['side-effect.ts', 'both.ts', 'all.ts', 'default.ts', 'three.ts', 'four.ts', 'five.ts', 'six.ts'],
      'seven.ts',
    ]);
  });
});
