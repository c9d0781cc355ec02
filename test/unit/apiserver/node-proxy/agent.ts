import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServingCredentials } from '../../../../src/agent/identity/index.ts';
import { createAccess } from '../../../../src/agent/server/access/index.ts';
import type { AgentRoute } from '../../../../src/agent/server/index.ts';
import { agentServer } from '../../../../src/agent/server/index.ts';
import { createLatest, createMetrics, systemClock } from '../../../../src/base/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import { createRequest, generateKeyPem } from '../../../../src/base/x509/index.ts';
import { ApiClient } from '../../../../src/client/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import type { TestServer } from '../support/index.ts';

export const bootID = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();

/** What a node tells of its machine. */
export const infoOf = (bootID: string) => ({
  bootID,
  architecture: 'amd64',
  containerRuntimeVersion: 'some',
  kernelVersion: 'some',
  kubeProxyVersion: 'some',
  kubeletVersion: 'some',
  machineID: 'some',
  operatingSystem: 'linux',
  osImage: 'some',
  systemUUID: 'some',
});

/** What a node says of itself; on this machine unless `change` says otherwise. */
export function nodeStatus(port: number, change: object = {}) {
  return {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
    nodeInfo: infoOf(bootID),
    ...change,
  };
}

/** Makes a Node, or changes the one that there is. */
export async function publish(server: TestServer, name: string, port: number, change: object = {}) {
  await server.admin.request('POST', '/api/v1/nodes', { body: { metadata: { name } } });
  const body = { status: nodeStatus(port, change) };
  const headers = { 'content-type': 'application/merge-patch+json' };
  const reply = await server.admin.request('PATCH', `/api/v1/nodes/${name}/status`, { body, headers });
  if (reply.code !== 200) throw new Error(reply.text);
}

/** The serving certificate that the control plane signs for a node. */
export async function servingPair(
  server: TestServer,
  node: string,
  addresses = ['127.0.0.1'],
): Promise<Pair> {
  const key = await generateKeyPem();
  const subject = { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
  const csrPem = await createRequest(key, subject, { dnsNames: [node], ipAddresses: addresses });
  const cert = await server.running.sign({ csrPem, node, usage: 'serving', addresses });
  return { cert, key };
}

export interface StandIn extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
  /** Requests that have come. */
  readonly requests: IncomingMessage[];
}

/** Somebody who serves as a node does, and answers what the test wants. */
export async function standIn(
  server: TestServer,
  pair: Pair,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<StandIn> {
  const requests: IncomingMessage[] = [];
  const https = createServer(
    { ...pair, ca: server.running.ca, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      requests.push(request);
      answer(request, response);
    },
  );
  await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(https.address()),
    server: https,
    requests,
    async [Symbol.asyncDispose]() {
      https.closeAllConnections();
      await new Promise((resolve) => https.close(resolve));
    },
  };
}

/** A node whose agent is the test's, published under its name. */
export async function nodeWith(
  server: TestServer,
  name: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<StandIn> {
  const agent = await standIn(server, await servingPair(server, name), answer);
  await publish(server, name, agent.port);
  return agent;
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('it listens on no port');
}

/** The real server of an agent, which asks the control plane who may do what, published as a node. */
export async function startAgent(server: TestServer, name: string, routes: readonly AgentRoute[]) {
  const serving = createLatest<ServingCredentials>();
  serving.set({ pair: await servingPair(server, name), clientCa: server.running.ca });
  const own = await server.issue({ commonName: `system:node:${name}`, organizations: ['system:nodes'] });
  const api = () => new ApiClient({ server: server.running.url, ca: server.running.ca, ...own });
  const control = { tokens: api(), permissions: api() };
  const { log, text } = recordedLog();
  const settings = { tokens: true, tokenTtlMs: 0, anonymous: false, alwaysAllow: false };
  const agent = agentServer({
    address: '127.0.0.1',
    port: 0,
    serving,
    enabled: true,
    tls: () => ({ minVersion: 'TLSv1.2', ciphers: undefined }),
    onSettings: () => new DisposableStack(),
    routes,
    access: createAccess({
      nodeName: name,
      settings: () => ({ ...settings, allowedTtlMs: 1000, deniedTtlMs: 0 }),
      control,
      metrics: createMetrics(),
      clock: systemClock,
      log,
    }),
    dependsOn: [],
    clock: systemClock,
    log,
  });
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const ended = agent.run(stop.signal, () => ready.resolve());
  await Promise.race([ready.promise, ended]);
  const port = await agent.port.get();
  await publish(server, name, port);
  return {
    port,
    log: text,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      await Promise.all(Object.values(control).map((client) => client[Symbol.asyncDispose]()));
    },
  };
}
