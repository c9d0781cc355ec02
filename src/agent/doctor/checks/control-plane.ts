import { join } from 'node:path';
import { describeError } from '../../../base/index.ts';
import { readPair } from '../../../base/x509/index.ts';
import type { ClientOptions } from '../../../client/index.ts';
import { ApiClient, ConnectionError, clientOptionsOf, readKubeconfig } from '../../../client/index.ts';
import type { ControlPlanePlace } from '../../config/control-socket/index.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, notApplicable, ok, unknown, warning } from '../types.ts';

interface ControlPlaneOptions {
  place: ControlPlanePlace;
  nodeName: string;
  rootDir: string;
  certDir: string;
  groupSuffix: string;
  /** The pid of the running agent. */
  agent(host: Host, signal: AbortSignal): Promise<number | undefined>;
}

const requestTimeoutMs = 4000;

export function createControlPlaneCheck(options: ControlPlaneOptions): Check {
  return {
    id: 'control-plane',
    topic: 'agent',
    title: 'control plane, with the credentials of the agent',
    needed: 'it answers, and this node may read its Node',
    async run(host, signal) {
      const { place, groupSuffix } = options;
      if (place.mode === 'standalone') return notApplicable('there is none: standalone');
      const credentials = await findCredentials(options, host, signal);
      if (!('client' in credentials)) return credentials;
      try {
        return await queryNode({ ...credentials.client, groupSuffix }, options.nodeName, signal);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        const runs = place.mode !== 'embedded' || (await options.agent(host, signal)) !== undefined;
        if (error.reason === 'refused' && !runs)
          return notApplicable('no agent runs, and with it no control plane');
        return failed(describeError(error), resolveAdvice(error));
      }
    },
  };
}

type Credentials = { client: ClientOptions } | Finding;

async function findCredentials(
  options: ControlPlaneOptions,
  host: Host,
  signal: AbortSignal,
): Promise<Credentials> {
  const { place, rootDir, certDir } = options;
  if (place.mode === 'embedded') {
    const admin = join(rootDir, 'admin.kubeconfig');
    const fault = (await findFault(host, admin, signal)) ?? (await findFault(host, certDir, signal));
    if (fault !== undefined)
      return fault === 'ENOENT'
        ? notApplicable('it has not been started here yet')
        : unknown(`${admin}: ${fault}`, asRoot);
    const pair = await readPair(certDir, 'nodeward-client');
    if (pair === undefined) return notApplicable('this node has no certificate yet');
    const { server, ca } = clientOptionsOf(await readKubeconfig(admin));
    return { client: { server, ca, ...pair } };
  }
  if (place.mode === 'standalone') return notApplicable('there is none: standalone');
  const own = place.kubeconfig;
  const fault = await findFault(host, own, signal);
  const joins = place.mode === 'joining' && fault === 'ENOENT';
  const path = joins ? place.bootstrapKubeconfig : own;
  const left = joins ? await findFault(host, path, signal) : fault;
  if (left === 'EACCES') return unknown(`${path}: ${left}`, asRoot);
  if (left !== undefined) return failed(`${path}: ${left}`, 'put a kubeconfig there');
  return { client: clientOptionsOf(await readKubeconfig(path)) };
}

/** Inspects `path` first, because reading it could hang. Undefined where it can be read. */
async function findFault(host: Host, path: string, signal: AbortSignal): Promise<string | undefined> {
  const looked = await host.inspectPath({ path, entries: 1 }, signal);
  if ('fault' in looked) return looked.fault;
  const readable = host.user === 0 || looked.found.uid === host.user;
  return readable ? undefined : 'EACCES';
}

async function queryNode(client: ClientOptions, nodeName: string, signal: AbortSignal): Promise<Finding> {
  await using api = new ApiClient({
    ...client,
    timeoutMs: requestTimeoutMs,
    connectTimeoutMs: requestTimeoutMs,
  });
  const { code, body } = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}`, signal });
  if (code === 200) return ok(`${client.server} answers, and has the Node ${nodeName}`);
  if (code === 404)
    return warning(
      `${client.server} answers, and has no Node ${nodeName} yet`,
      'start the agent, which makes it',
    );
  const found = `${client.server} answered ${code}: ${readMessage(body)}`;
  if (code === 401)
    return failed(
      found,
      'give the agent credentials that count: another kubeconfig, or join again with a bootstrap token',
    );
  if (code === 403) return failed(found, `use credentials of system:node:${nodeName}, or allow that user to`);
  return failed(found, 'look into the log of the control plane');
}

function readMessage(body: string): string {
  return /"message":\s*"((?:[^"\\]|\\.){0,300})/.exec(body)?.[1] ?? body.slice(0, 200);
}

function resolveAdvice({ reason }: ConnectionError): string {
  if (reason === 'untrusted')
    return 'compare the authority and the server in the kubeconfig with the control plane’s, and the clock';
  if (reason === 'refused') return 'start the control plane, or correct the server in the kubeconfig';
  if (reason === 'rejected') return 'give the agent a certificate of the cluster that has not ended';
  return 'look at the network between this node and the control plane: name, route, firewall';
}
