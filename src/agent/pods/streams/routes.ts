import { request as httpRequest } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Pod } from '../../../api/index.ts';
import type { PassOptions, Upgrade } from '../../../base/https/index.ts';
import { allowStall, passUpgrade, upgradeHeaders, upgradeOf } from '../../../base/https/index.ts';
import type { Clock } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Carried } from '../../../base/streams/index.ts';
import type { StreamCalls, StreamWishes } from '../../runtime/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { AgentRequest, AgentRoute } from '../../server/index.ts';
import { RefusedError, sendText } from '../../server/index.ts';
import { hasContainer } from '../log-reader/index.ts';
import type { RuntimeView } from '../view/types.ts';

export interface StreamedPods {
  /** Undefined: no pod of this node. */
  find(namespace: string, name: string): Pod | undefined;
  readonly view: Pick<RuntimeView, 'pod'>;
  readonly calls: StreamCalls;
  /** How long a stream may stand still; milliseconds. */
  idleMs(): number;
  readonly clock: Clock;
}

/**
 * `/exec`, `/attach` and `/portForward` of a pod, as the reference's agent has them: POST with SPDY/3.1 or GET with WebSocket. The
 * streams themselves are the runtime's: bytes are passed on as they come. 400: no such upgrade, or nothing asked for; 404: no such
 * pod, or its container does not run.
 */
export function streamRoutes(pods: StreamedPods): readonly AgentRoute[] {
  const { calls } = pods;
  const ofContainer = (verb: string, ask: AskContainer) => [
    route(`/${verb}/:namespace/:pod/:container`, 'command', pods, askContainer(pods, ask)),
    route(`/${verb}/:namespace/:pod/:uid/:container`, 'command', pods, askContainer(pods, ask)),
  ];
  const askPorts: Ask = ({ query, raw, signal, params }, pod) =>
    calls.portForward(findSandbox(pods, pod, params), readPorts(query, raw.raw.method === 'GET'), signal);
  return [
    ...ofContainer('exec', (id, { query, signal }) =>
      calls.exec(id, query.getAll('command'), readWishes(query), signal),
    ),
    ...ofContainer('attach', (id, { query, signal }) => calls.attach(id, readWishes(query), signal)),
    route('/portForward/:namespace/:pod', 'ports', pods, askPorts),
    route('/portForward/:namespace/:pod/:uid', 'ports', pods, askPorts),
  ];
}

/** Asks the runtime for a URL where the stream begins. */
type Ask = (request: AgentRequest, pod: Pod) => Promise<string>;
type AskContainer = (containerId: string, request: AgentRequest) => Promise<string>;

function route(path: string, carried: Carried, pods: StreamedPods, ask: Ask): AgentRoute {
  const answer = (request: AgentRequest) => answerStream(pods, carried, request, ask);
  // otherwise who may only read could run commands
  return {
    path,
    subresource: 'proxy',
    upgrades: true,
    methods: { GET: { verb: 'create', answer }, POST: answer },
  };
}

async function answerStream(
  pods: StreamedPods,
  carried: Carried,
  request: AgentRequest,
  ask: Ask,
): Promise<FastifyReply> {
  const { params, reply, raw, signal, stopping } = request;
  const { namespace = '', pod: name = '', uid } = params;
  const pod = pods.find(namespace, name);
  if (pod === undefined || (uid !== undefined && uid !== pod.metadata?.uid))
    throw new RefusedError(404, 'pod does not exist');
  const upgrade = upgradeOf(raw.raw);
  if (upgrade === undefined)
    throw new RefusedError(400, 'unable to upgrade: missing upgrade headers in request');
  allowStall(raw.raw.socket, pods.idleMs());
  const url = await askRuntime(() => ask(request, pod));
  const declined = await passOn(url, request, upgrade, {
    onAgreed: () => reply.hijack(),
    ...{ carried, signal, idleMs: pods.idleMs(), clock: pods.clock },
    endings: [{ signal: stopping, text: 'the agent of the node is stopping' }],
    lost: 'the connection to the runtime was lost',
  });
  return declined === undefined ? reply : sendText(reply, declined.code, declined.text);
}

async function askRuntime(ask: () => Promise<string>): Promise<URL> {
  try {
    const url = new URL(await ask());
    if (url.protocol === 'http:') return url;
    throw new RefusedError(
      500,
      `the runtime serves streams by ${url.protocol}, and this agent speaks http: with it`,
    );
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    throw new RefusedError(error.reason === 'notFound' ? 404 : 500, describeError(error));
  }
}

type Passing = Omit<PassOptions, 'asking' | 'upgrade'>;

async function passOn(url: URL, { raw }: AgentRequest, upgrade: Upgrade, passing: Passing) {
  const { method = 'GET' } = raw.raw;
  const asking = httpRequest(url, { method, agent: false, headers: upgradeHeaders(raw.raw) });
  try {
    return await passUpgrade({ ...passing, asking, upgrade });
  } catch (error) {
    throw new RefusedError(500, `the streaming server of the runtime, ${url.host}: ${describeError(error)}`);
  }
}

/** Of the one that runs. */
function askContainer(pods: StreamedPods, ask: AskContainer): Ask {
  return async (request, pod) => {
    const { container = '' } = request.params;
    const missing = `container not found (${JSON.stringify(container)})`;
    if (!hasContainer(pod, container)) throw new RefusedError(404, missing);
    const all = pods.view.pod(pod.metadata?.uid ?? '')?.containers ?? [];
    const newest = all.find(({ name }) => name === container);
    if (newest?.state === 'running') return await ask(newest.id, request);
    throw new RefusedError(404, newest === undefined ? missing : `${missing}: it does not run`);
  };
}

function findSandbox({ view }: StreamedPods, pod: Pod, params: AgentRequest['params']): string {
  const found = view.pod(pod.metadata?.uid ?? '')?.sandboxes.find(({ isReady }) => isReady);
  if (found !== undefined) return found.id;
  throw new RefusedError(404, `pod not found ("${params['pod']}_${params['namespace']}"): it does not run`);
}

function readWishes(query: URLSearchParams): StreamWishes {
  const has = (name: string) => query.get(name) === '1';
  const tty = has('tty');
  const wishes = { stdin: has('input'), stdout: has('output'), stderr: has('error') && !tty, tty };
  if (wishes.stdin || wishes.stdout || wishes.stderr) return wishes;
  throw new RefusedError(400, 'you must specify at least 1 of stdin, stdout, stderr');
}

/** Those of a client over WebSocket, which names them beforehand; one over SPDY names them with each connection. */
function readPorts(query: URLSearchParams, isWebSocket: boolean): number[] {
  if (!isWebSocket) return [];
  const texts = query.getAll('port').flatMap((text) => text.split(','));
  for (const text of texts)
    if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
      throw new RefusedError(400, `port ${JSON.stringify(text.slice(0, 20))} is not a port`);
  return texts.map(Number);
}
