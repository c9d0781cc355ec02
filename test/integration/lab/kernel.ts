import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { SupervisedProcess } from '../../support/index.ts';
import { runSuccessfully, startProcess, temporaryFolder, waitFor } from '../../support/index.ts';
import { freeSubnet } from './cni.ts';
import { fetched, repository } from './folder.ts';

/**
 * A machine with a kernel of its own (scripts/lab/kernel-boot): control groups of version 2 alone, whose controllers are cpu, io,
 * memory and pids. Its root folder is that of Debian 12, PID 1 is systemd 252. The repository is /opt/repository inside, the lab /opt/lab, both read-only.
 * Disposal ends it with all that runs in it, and leaves no trace.
 */
export interface LabKernel extends AsyncDisposable {
  /** Where it is reached from this machine. */
  readonly address: string;
  /** /shared inside, for files of both sides. */
  readonly folder: string;
  /** What the kernel and its init have written so far. */
  readonly console: string;
  /** Runs a bash script as root and returns what it writes, also to standard error; throws when it fails. */
  sh(script: string): Promise<string>;
}

const boot = join(repository, 'scripts/lab/kernel-boot');
const shellPort = 7;
const bootTimeoutMs = 60_000;
const scriptTimeoutMs = 60_000;
/** What is sent before the link is up inside is lost, and is sent again by the system only after ever longer times. */
const probeTimeoutMs = 500;

/** Resolves when its shell answers. Needs root. */
export async function bootKernel(): Promise<LabKernel> {
  await using setup = new AsyncDisposableStack();
  const home = setup.use(await temporaryFolder('kernel-'));
  const folder = join(home.path, 'shared');
  await mkdir(folder);
  const subnet = freeSubnet('10.199').replace('.0/24', '');
  const address = `${subnet}.2`;
  const link = `nwk${randomBytes(5).toString('hex')}`; // names of links have 15 characters at most
  const kernel = await startProcess(boot, [
    ...['--kernel', fetched('uml'), '--root', fetched('bookworm')],
    ...['--busybox', fetched('tools/bin/busybox'), '--share', folder, '--link', link, '--address', address],
    ...['--folder', `repository=${repository}`, '--folder', `lab=${fetched('.')}`],
  ]);
  setup.defer(async () => {
    await kernel.kill9(); // it holds nothing that has to be saved
  });
  await untilAnswering(kernel, link, subnet);
  const resources = setup.move();
  return {
    address,
    folder,
    sh: (script) => runScript(address, script),
    get console() {
      return `${kernel.stdout}${kernel.stderr}`;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The kernel makes the link; nothing is sent before it is there, or it would go where this machine's default route leads. */
async function untilAnswering(kernel: SupervisedProcess, link: string, subnet: string): Promise<void> {
  const check = () => {
    if (kernel.exit !== undefined) throw new Error(`it ended with ${kernel.exit.signal ?? kernel.exit.code}`);
  };
  let failure: unknown;
  const answers = async (): Promise<boolean> => {
    try {
      check();
    } catch (error) {
      failure = error;
      return true;
    }
    return (await runScript(`${subnet}.2`, 'echo here', probeTimeoutMs).catch(() => '')) === 'here\n';
  };
  try {
    await waitFor('its link', () => kernel.exit !== undefined || existsSync(`/sys/class/net/${link}`), {
      timeoutMs: bootTimeoutMs,
    });
    check();
    await runSuccessfully('ip', ['address', 'add', `${subnet}.1/24`, 'dev', link]);
    await runSuccessfully('ip', ['link', 'set', link, 'up']);
    await waitFor('its shell to answer', answers, { timeoutMs: bootTimeoutMs });
    if (failure !== undefined) throw failure;
  } catch (error) {
    throw new Error(`the kernel of the lab did not boot: ${kernel.stdout}${kernel.stderr}`, { cause: error });
  }
}

const lastLine = /\n?exit (\d+)\n$/;

async function runScript(address: string, script: string, timeoutMs = scriptTimeoutMs): Promise<string> {
  const socket = connect({ host: address, port: shellPort, allowHalfOpen: true });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer in ${timeoutMs} ms: ${script}`)));
  socket.end(`(\n${script}\n)\ncode=$?; echo; echo "exit $code"\n`);
  const output = await text(socket);
  const code = lastLine.exec(output)?.[1];
  if (code === '0') return output.replace(lastLine, '');
  throw new Error(`${script}: ${code === undefined ? 'was cut off' : `ended with ${code}`}:\n${output}`);
}
