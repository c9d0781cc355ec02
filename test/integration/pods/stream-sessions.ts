/** Sessions of streams, many at once, and what they may leave. */
import { readdir } from 'node:fs/promises';
import { Semaphore } from '../../../src/base/index.ts';
import { waitFor } from '../../support/index.ts';
import { controlPlaneOf } from '../nodeward/index.ts';
import type { PodNode } from './pod-node.ts';
import type { CommandSession, StreamServer } from './stream-clients.ts';
import { askPort, execPath, protocols, startCommand, startForwarding } from './stream-clients.ts';

/** Half of them are connections to ports, half of each by each protocol. */
const kindOf = (index: number) => ({
  protocol: protocols[index % 2] ?? 'SPDY',
  isPort: index % 4 < 2,
  text: `session ${index}`,
  code: index % 200,
});

/** A handshake has some seconds, on a machine however slow. */
const opening = new Semaphore(() => 16);
/** The server of the pods lets few wait until it has accepted them. */
const connecting = new Semaphore(() => 8);

/** A session of a pod that has `cat` and, on a port, pages that are called after numbers and say them. */
export interface Session {
  readonly server: StreamServer;
  readonly pod: string;
  readonly index: number;
}

/** Opens one, calls `isOpen`, and ends it when `end` resolves. Returns what came of it. */
export async function runSession(
  { server, pod, index }: Session,
  port: number,
  isOpen: () => void,
  end: Promise<void>,
): Promise<unknown> {
  const { protocol, isPort, text, code } = kindOf(index);
  if (isPort) {
    const client = await opening.run(() => startForwarding(server, protocol, pod));
    let answer = '';
    isOpen();
    await end;
    const request = `GET /${index} HTTP/1.0\r\n\r\n`;
    const error = await connecting.run(() =>
      askPort(client, port, request, (piece) => {
        answer += String(piece);
      }),
    );
    client.destroy();
    return { answer: answer.split('\r\n\r\n')[1], error };
  }
  const command = execPath(pod, 'sh', '-c', `cat; echo "$0" >&2; exit ${code}`, text);
  const session = await opening.run(() => startCommand(server, protocol, command));
  const came = { stdout: '', stderr: '' };
  session.onOutput = (piece, from) => {
    came[from] += String(piece);
    if (came.stdout === text) isOpen();
  };
  await session.write(Buffer.from(text));
  await end;
  session.end();
  const { status, details } = JSON.parse(await session.status);
  return { ...came, status, code: Number(details?.causes[0]?.message ?? 0) };
}

/** What has to come of it. */
export function resultOf(index: number): unknown {
  const { isPort, text, code } = kindOf(index);
  if (isPort) return { answer: `${index}\n`, error: '' };
  return { stdout: text, stderr: `${text}\n`, status: code === 0 ? 'Success' : 'Failure', code };
}

/** A session that is busy until it is cut, by `cut` or by another end; calls `begin` when it has begun by then. */
export async function runUntilCut(
  { server, pod, index }: Session,
  port: number,
  cut: AbortSignal,
  begin: () => void,
): Promise<void> {
  const { protocol, isPort } = kindOf(index);
  const onCut = (close: () => void) => (cut.aborted ? close() : cut.addEventListener('abort', close));
  if (isPort) {
    const client = await ifAgreed(startForwarding(server, protocol, pod, cut));
    if (client === undefined) return;
    begin();
    onCut(() => client.destroy());
    await askPort(client, port, '', () => undefined);
    client.destroy();
  } else {
    // no more than a pipe holds: a runtime does not notice the end of a session while a command does not take its input
    const reads = index % 8 < 4;
    const command = reads ? ['cat'] : ['yes'];
    const session = await ifAgreed(startCommand(server, protocol, execPath(pod, ...command), cut));
    if (session === undefined) return;
    begin();
    onCut(() => session.close());
    if (reads) void sayAgain(session);
    await session.status;
    session.close();
  }
}

async function ifAgreed<T>(starting: Promise<T>): Promise<T | undefined> {
  return await starting.catch((error: unknown) => {
    if (error instanceof Error) return undefined; // it was cut before
    throw error;
  });
}

/** Sends a line when the one before has come back. */
async function sayAgain(session: CommandSession): Promise<void> {
  const state = { isOver: false };
  const line = Buffer.alloc(4096, 'a line\n');
  let came = 0;
  session.onOutput = (piece) => {
    came += piece.length;
    if (came % line.length === 0 && !state.isOver) void session.write(line);
  };
  void session.status.then(() => {
    state.isOver = true;
  });
  await session.write(line);
}

/** What the processes of the way hold. */
type Held = Readonly<Record<'agent' | 'controlPlane' | 'containerd', number>>;

/** How many descriptors they have open. */
export async function heldBy({ agent, node }: PodNode): Promise<Held> {
  const count = async (pid: number) => (await readdir(`/proc/${pid}/fd`)).length;
  return {
    agent: await count(agent.pid),
    controlPlane: await count((await controlPlaneOf(agent.pid)) ?? 0),
    containerd: await count(node.containerd.pid),
  };
}

/** Descriptors beside those of streams: of other work, which comes and goes. */
const otherDescriptors = 15;

/** Waits until no stream is open, no process of one is left in the pod, and no more is held than before. */
export async function waitUntilNothingIsLeft(lab: PodNode, pod: string, before: Held): Promise<void> {
  const { run } = lab.kubectl;
  let answered = '';
  await waitFor('no stream to be open', async () => {
    const { code, stdout, stderr } = await run(['get', '--raw', '/metrics']);
    answered = `${code}: ${/^nodeward_node_streams .*$/m.exec(stdout)?.[0] ?? `none in ${stdout.length} characters`} ${stderr}`;
    return /^nodeward_node_streams 0$/m.test(stdout);
  }).catch((error: unknown) => {
    throw new Error(`streams are open: ${answered}`, { cause: error });
  });
  await waitFor('no process of a session to be left', async () => {
    const { stdout } = await run(['exec', pod, '-c', 'main', '--', 'ps', '-o', 'args']);
    return stdout !== '' && !/^(?:cat|yes|sh -c (?:cat|yes).*)$/m.test(stdout);
  });
  let more: readonly string[] = [];
  const all = async () => {
    const now = await heldBy(lab);
    more = (['agent', 'controlPlane', 'containerd'] as const)
      .filter((name) => now[name] > before[name] + otherDescriptors)
      .map((name) => `${name} had ${before[name]}, has ${now[name]}`);
    return more.length === 0;
  };
  await waitFor('the descriptors of streams to be closed', all).catch((error: unknown) => {
    throw new Error(`descriptors are left: ${more.join(', ')}`, { cause: error });
  });
}
