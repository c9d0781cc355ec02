import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SupervisedProcess } from '../../support/index.ts';
import { startProcess, temporaryFolder, waitFor } from '../../support/index.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Does what npm ci does: what is there goes first, its own file comes last; the rest waits for the file `go`. */
const npm = `#!/bin/sh
set -eu
echo "$1" >> "$HOME/calls"
rm -rf node_modules
mkdir -p node_modules/.bin
printf '#!/bin/sh\\n' > node_modules/.bin/node
chmod 755 node_modules/.bin/node
while [ ! -e "$HOME/go" ]; do sleep 0.02; done
if [ -e "$HOME/full" ]; then echo 'npm error no space' >&2; exit 1; fi
echo new > node_modules/version
touch node_modules/.package-lock.json
`;

/** A folder with the scripts and with old packages, for which there are new ones. */
class Checkout {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async fill(): Promise<void> {
    for (const name of ['scripts/dependencies', 'scripts/progress']) {
      await this.write(name, '');
      await copyFile(join(repository, name), join(this.#folder, name));
    }
    await this.write('bin/npm', npm);
    for (const name of ['package.json', 'node_modules/.package-lock.json', 'node_modules/.bin/node']) {
      await this.write(name, '');
    }
    await this.write('node_modules/version', 'old\n');
    await this.setNewer('package-lock.json');
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.#folder, name)), { recursive: true });
    await writeFile(join(this.#folder, name), text, { mode: 0o755 });
  }

  /** Makes a file that is newer than all others so far, but older than those that are written from now on. */
  async setNewer(name: string): Promise<void> {
    const installed = join(this.#folder, 'node_modules/.package-lock.json');
    const now = Date.now() / 1000;
    await utimes(installed, now - 60, now - 60);
    await this.write(name, '');
    await utimes(join(this.#folder, name), now - 30, now - 30);
  }

  start(): Promise<SupervisedProcess> {
    const path = [join(this.#folder, 'bin'), process.env['PATH']].join(delimiter);
    const env = { HOME: this.#folder, PATH: path };
    return startProcess(join(this.#folder, 'scripts/dependencies'), [], { env });
  }

  version(): Promise<string> {
    return readFile(join(this.#folder, 'node_modules/version'), 'utf8');
  }

  async calls(): Promise<number> {
    const text = await readFile(join(this.#folder, 'calls'), 'utf8').catch(() => '');
    return text.split('\n').length - 1;
  }

  untilCalled(times: number): Promise<unknown> {
    return waitFor('npm to run', async () => (await this.calls()) === times);
  }

  /** Folders with packages. */
  async folders(): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => name.startsWith('node_modules'));
  }
}

async function withCheckout(use: (checkout: Checkout) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder('dependencies-');
  const checkout = new Checkout(folder.path);
  await checkout.fill();
  await use(checkout);
}

describe('scripts/dependencies', () => {
  test('puts the new packages in the place of the old ones when they are complete, and only once', () =>
    withCheckout(async (checkout) => {
      await using first = await checkout.start();
      await checkout.untilCalled(1);
      assert.equal(await checkout.version(), 'old\n');
      await checkout.write('go', '');
      assert.equal((await first.exited).code, 0, first.stderr);
      assert.match(first.stderr, /^dependencies: installing the npm packages .*\(0\.6 GB\)\n$/);
      assert.equal(await checkout.version(), 'new\n');
      assert.deepEqual(await checkout.folders(), ['node_modules']);
      await using again = await checkout.start();
      assert.deepEqual([(await again.exited).code, again.stderr, await checkout.calls()], [0, '', 1]);
    }));

  test('leaves the old packages when npm fails', () =>
    withCheckout(async (checkout) => {
      for (const name of ['full', 'go']) await checkout.write(name, '');
      await using running = await checkout.start();
      assert.equal((await running.exited).code, 1);
      assert.match(
        running.stderr,
        /npm error no space\ndependencies: npm ci failed; see its messages above\n$/,
      );
      assert.equal(await checkout.version(), 'old\n');
      assert.deepEqual(await checkout.folders(), ['node_modules']);
    }));

  test('killed in the middle: the old packages stay, and the next run waits for npm, then installs', () =>
    withCheckout(async (checkout) => {
      const killed = await checkout.start();
      await checkout.untilCalled(1);
      const ended = killed.kill9();
      assert.equal(await checkout.version(), 'old\n');
      await using next = await checkout.start();
      await next.waitForOutput(/^dependencies: waiting for another installation of the npm packages/m);
      assert.equal(await checkout.calls(), 1);
      await checkout.write('go', '');
      await ended;
      assert.equal((await next.exited).code, 0, next.stderr);
      assert.deepEqual([await checkout.version(), await checkout.calls()], ['new\n', 2]);
      assert.deepEqual(await checkout.folders(), ['node_modules']);
    }));

  test('two at once: the second waits, and finds all done', () =>
    withCheckout(async (checkout) => {
      await using first = await checkout.start();
      await checkout.untilCalled(1);
      await using second = await checkout.start();
      await second.waitForOutput(/waiting for another installation/);
      await checkout.write('go', '');
      assert.deepEqual([(await first.exited).code, (await second.exited).code], [0, 0]);
      assert.deepEqual([await checkout.version(), await checkout.calls()], ['new\n', 1]);
    }));
});
