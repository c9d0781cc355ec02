import { join } from 'node:path';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { createLatest, describeError, readRegularFile, writeFileAtomic } from '../../base/index.ts';
import type { Issue, Pair } from '../../base/x509/index.ts';
import {
  alternativeNames,
  createAuthority,
  findFault,
  issueForRequest,
  noNames,
  readPair,
  readRequest,
  validity,
  writePair,
} from '../../base/x509/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { renderKubeconfig } from '../../client/index.ts';
import type { Identity, ServingCredentials } from './credentials.ts';
import { loopbackNames, nodeSubject, publishServing } from './credentials.ts';
import { obtainPair } from './obtain.ts';
import { minLeft, renewalService } from './renewal.ts';

export interface StandaloneIdentityOptions {
  nodeName: string;
  rootDir: string;
  certDir: string;
  /** Returns the names and addresses by which this node is currently reached. */
  addresses(): readonly string[];
  /** The agent's own address, `https://…`, for the kubeconfig; known once it listens. */
  url(): Promise<string>;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

const dayMs = 24 * 3600_000;
const authorityMs = 3650 * dayMs;
const leafMs = 365 * dayMs;
const authorityName = 'standalone-ca';
const administrator = { commonName: 'nodeward-admin', organizations: ['system:masters'] };
const retry = { initialMs: 200, maxMs: 15_000 };
const kubeconfigLimitBytes = 1024 * 1024;

/**
 * The service `identity` without a control plane: the agent's own authority signs its serving certificate and a client
 * certificate for the administrator, who finds authority and certificate in `agent.kubeconfig` (0600) in the root folder.
 */
export function standaloneIdentity(options: StandaloneIdentityOptions): Service & Identity {
  const { nodeName, rootDir, clock } = options;
  const serving = createLatest<ServingCredentials>();

  async function refresh(): Promise<readonly string[]> {
    const authority = await openAuthority(options);
    const names = alternativeNames([nodeName, ...options.addresses(), ...loopbackNames]);
    const pair = await obtainLeaf(options, authority, 'nodeward-serving', {
      subject: nodeSubject(nodeName),
      names,
      use: 'server',
    });
    publishServing(serving, { pair, clientCa: authority.cert });
    const admin = await obtainLeaf(options, authority, 'standalone-admin', {
      subject: administrator,
      names: noNames,
      use: 'client',
    });
    const user = administrator.commonName;
    const server = await options.url();
    const text = renderKubeconfig({ server, ca: authority.cert, ...admin, user, endpoint: 'agent' });
    await updateFile(join(rootDir, 'agent.kubeconfig'), text);
    return [pair.cert, admin.cert];
  }

  const service = renewalService({
    name: 'identity',
    dependsOn: options.dependsOn,
    clock,
    log: options.log,
    refresh,
    readyAfterFirst: true,
    retry,
  });
  return { ...service, api: createLatest<ClientOptions>(), serving };
}

/** Returns the agent's own authority. One that cannot be used is replaced: all it has signed is issued again here. */
async function openAuthority({ certDir, clock, log }: StandaloneIdentityOptions): Promise<Pair> {
  const found = await readAuthority(certDir, clock.now());
  if (typeof found !== 'string') {
    refuseClockBehind(found.cert, clock.now());
    return found;
  }
  log.info({ certificate: authorityName }, `making a certificate authority: ${found}`);
  const made = await createAuthority(`nodeward-${authorityName}`, authorityMs, clock.now());
  await writePair(certDir, authorityName, made);
  return made;
}

/** Returns what is on disk, or why it cannot be used. */
async function readAuthority(certDir: string, now: number): Promise<Pair | string> {
  try {
    const found = await readPair(certDir, authorityName);
    if (found === undefined) return 'there is none yet';
    // a clock that is behind is no reason to replace the authority: it may be correct in a moment
    const checkMs = Math.max(now, validity(found.cert).notBeforeMs);
    return findFault(found, { authority: found.cert, use: 'authority', now: checkMs }) ?? found;
  } catch (error) {
    return describeError(error);
  }
}

function refuseClockBehind(cert: string, now: number): void {
  const { notBeforeMs } = validity(cert);
  if (now >= notBeforeMs) return;
  const [from, clockTime] = [notBeforeMs, now].map((ms) => new Date(ms).toISOString());
  throw new Error(
    `the agent's own authority is valid only from ${from} on, and this machine's clock shows ${clockTime}: set the clock`,
  );
}

async function obtainLeaf(
  { certDir, clock, log }: StandaloneIdentityOptions,
  authority: Pair,
  name: string,
  leaf: Pick<Issue, 'subject' | 'names' | 'use'>,
): Promise<Pair> {
  return await obtainPair({
    folder: certDir,
    name,
    subject: leaf.subject,
    expected: { authority: authority.cert, use: leaf.use, names: leaf.names, minLeft },
    async sign(csrPem) {
      const request = await readRequest(csrPem);
      return await issueForRequest(authority, request, { ...leaf, lifetimeMs: leafMs, now: clock.now() });
    },
    clock,
    log,
  });
}

/** Writes `text` unless the file has it already: another process may watch the file. */
async function updateFile(path: string, text: string): Promise<void> {
  const found = await readRegularFile(path, { limitBytes: kubeconfigLimitBytes }).catch(() => undefined);
  if (found?.toString('utf8') !== text) await writeFileAtomic(path, text);
}
