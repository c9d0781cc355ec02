import { StatusError } from '../../../api/index.ts';
import type { Upgrade } from '../../../base/https/index.ts';
import { upgradeOf } from '../../../base/https/index.ts';
import { isAsked } from '../../handlers/index.ts';
import type { NodeProxy } from '../../node-proxy/index.ts';
import type { StreamWishes } from '../../web-streams/index.ts';
import { MessageMemory, readWebStream } from '../../web-streams/index.ts';
import { answering, declinedTo } from '../node-proxy.ts';
import { queryOf } from '../routing/request.ts';
import type { AskedPod, PodPath } from './path.ts';
import { agentPath, chooseContainer } from './path.ts';

/*
 * Streams into pods: a connection that is upgraded to SPDY/3.1 or WebSocket is joined, byte by byte, with one to the agent of the
 * pod's node. Each begins only with the right to create it, whatever its method is: a WebSocket begins with GET.
 */

const streams = ['exec', 'attach', 'portforward'];

/** On which paths a connection may become a stream. */
export function isStreamPath(path: string): boolean {
  const parts = path.split('/');
  if (parts[3] === 'nodes') return parts[5] === 'proxy';
  if (parts[5] !== 'pods') return false;
  return parts[7] === 'proxy' || (parts.length === 8 && streams.includes(parts[7] ?? ''));
}

/** `exec`, `attach` and `portforward` of pods. */
export function podStreams(proxy: NodeProxy, stopping: AbortSignal): PodPath[] {
  const memory = new MessageMemory();
  const stream = (subresource: string, toTarget: ToTarget) =>
    streamPath({ proxy, stopping, memory, subresource, toTarget });
  return [
    stream('exec', (asked, query) => {
      const commands = query.getAll('command').map((each): [string, string] => ['command', each]);
      return containerTarget('exec', asked, query, commands);
    }),
    stream('attach', (asked, query) => containerTarget('attach', asked, query, [])),
    stream('portforward', ({ namespace, name }, query) => {
      const ports = query.getAll('ports').join(',');
      return (
        agentPath('portForward', namespace, name) +
        (ports === '' ? '' : `?${new URLSearchParams({ port: ports })}`)
      );
    }),
  ];
}

function containerTarget(
  verb: string,
  { pod, namespace, name }: AskedPod,
  query: URLSearchParams,
  more: readonly [string, string][],
): string {
  const container = chooseContainer(pod, query.get('container') ?? '');
  const { stdin, stdout, stderr, tty } = readWishes(query);
  const wishes = Object.entries({ input: stdin, output: stdout, error: stderr, tty }).flatMap(
    ([wish, isWanted]): [string, string][] => (isWanted ? [[wish, '1']] : []),
  );
  return `${agentPath(verb, namespace, name, container)}?${new URLSearchParams([...wishes, ...more])}`;
}

function readWishes(query: URLSearchParams): StreamWishes {
  const has = (name: string) => isAsked(query, name);
  return { stdin: has('stdin'), stdout: has('stdout'), stderr: has('stderr'), tty: has('tty') };
}

type ToTarget = (asked: AskedPod, query: URLSearchParams) => string;

interface StreamPath {
  readonly proxy: NodeProxy;
  readonly stopping: AbortSignal;
  readonly memory: MessageMemory;
  readonly subresource: string;
  readonly toTarget: ToTarget;
}

function streamPath({ proxy, stopping, memory, subresource, toTarget }: StreamPath): PodPath {
  const carried = subresource === 'portforward' ? 'ports' : 'command';
  return {
    subresource,
    methods: ['GET', 'POST'],
    verb: () => 'create',
    async answer(asked, request, reply) {
      const { name, requester, untilMs } = asked;
      const query = queryOf(request);
      const target = toTarget(asked, query);
      const web = readWebStream(request.raw, carried, readWishes(query), { memory, user: requester });
      const nodeName = asked.pod.spec?.nodeName ?? '';
      if (nodeName === '') throw new StatusError('BadRequest', `pod ${name} does not have a host assigned`);
      const declined = await proxy.join({
        ...asked.node(nodeName),
        ...answering(request, reply),
        ...{ target, requester, untilMs, carried, web, stopping },
        upgrade: needUpgrade(upgradeOf(request.raw)),
      });
      return declinedTo(reply, declined);
    },
  };
}

function needUpgrade(upgrade: Upgrade | undefined): Upgrade {
  if (upgrade !== undefined) return upgrade;
  throw new StatusError('BadRequest', 'Upgrade request required');
}
