import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/index.ts';

const script = fileURLToPath(new URL('../../../scripts/progress', import.meta.url));
const hasTerminal = (await runCommand('script', ['--version']).catch(() => undefined))?.code === 0;

const bash = (body: string) => ['bash', '-ec', `. ${script}; ${body}`] as const;

describe('what takes long in scripts/up and scripts/dependencies', () => {
  test('is a plain line where there is no terminal; the exit code of the command stays', async () => {
    const [command, ...argv] = bash('with_progress "installing x" sh -c "echo out; exit 3"');
    const { code, stdout, stderr } = await runCommand(command, argv);
    assert.deepEqual([code, stdout, stderr], [3, 'out\n', 'installing x\n']);
  });

  test('shows the seconds on a terminal, and leaves no process', { skip: !hasTerminal }, async () => {
    const line = bash('with_progress "installing x" sleep 1.3; jobs -r; echo over').map(
      (word) => `'${word}'`,
    );
    const { code, stdout } = await runCommand('script', ['-qec', line.join(' '), '/dev/null']);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /\rinstalling x … 0 s/);
    assert.match(stdout, /\rinstalling x … 1 s/);
    assert.match(stdout, /\rinstalling x \([12] s\)\S*\r?\nover\r?\n$/);
  });
});
