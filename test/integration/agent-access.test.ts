/** Who may use the agent's API, with the real program, the control plane's reviews, kubectl and curl. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl } from './lab/index.ts';
import { kubectl } from './lab/index.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { nodeward, startAgent } from './nodeward/index.ts';

before(ensureBuilt);

const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {webhook: {cacheTTL: 1s}}
authorization: {webhook: {cacheAuthorizedTTL: 1s, cacheUnauthorizedTTL: 1s}}
`;

describe('the agent’s API', () => {
  let home: TemporaryFolder;
  let agent: RunningAgent;
  let tool: Kubectl;
  let ca = '';
  const rootDir = () => join(home.path, 'root');
  const configFile = () => join(home.path, 'config.yaml');

  const run = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await tool.run(argv);
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  const get = (path: string, token?: string) =>
    new Promise<{ code: number; body: string }>((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      request(`${agent.summary.agent}${path}`, { ca, headers, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => resolve({ code: response.statusCode ?? 0, body }));
      })
        .on('error', reject)
        .end();
    });
  const becomes = (path: string, token: string, code: number) =>
    waitFor(`${path} to be ${code}`, async () => (await get(path, token)).code === code);

  before(async () => {
    home = await temporaryFolder('agent-access-');
    await writeFile(configFile(), config);
    const runtime = ['--container-runtime-endpoint', `unix://${join(home.path, 'nowhere.sock')}`];
    agent = await startAgent({ rootDir: rootDir(), args: ['--config', configFile(), ...runtime] });
    tool = kubectl(join(rootDir(), 'admin.kubeconfig'), home.path);
    ca = await readFile(join(rootDir(), 'pki/ca.crt'), 'utf8');
    await run('create', 'serviceaccount', 'scraper');
  });
  after(async () => {
    await agent[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test('is 401 for nobody, and for a token that nobody has issued', async () => {
    assert.deepEqual(await get('/metrics'), { code: 401, body: 'Unauthorized' });
    assert.deepEqual(await get('/metrics', 'made.up.token'), { code: 401, body: 'Unauthorized' });
  });

  test('is 403 with a token that may nothing, 200 once a role says so, and 403 when that is taken back', async () => {
    const token = await run('create', 'token', 'scraper');
    const refused = await get('/metrics', token);
    assert.equal(refused.code, 403);
    assert.match(
      refused.body,
      /^Forbidden \(user=system:serviceaccount:default:scraper, verb=get, resource=nodes, subresource\(s\)=\[metrics\]\)$/,
    );
    await run('create', 'clusterrole', 'scrape', '--verb=get', '--resource=nodes/metrics');
    await run(
      'create',
      'clusterrolebinding',
      'scrape',
      '--clusterrole=scrape',
      '--serviceaccount=default:scraper',
    );
    await becomes('/metrics', token, 200);
    const { body } = await get('/metrics', token);
    assert.match(body, /nodeward_agent_reviews_total\{review="access",result="yes"\}/);
    assert.equal((await get('/configz', token)).code, 403, 'the role is for metrics only');
    await run('delete', 'clusterrolebinding', 'scrape');
    await becomes('/metrics', token, 403);
  });

  test('ends for a token with its account', async () => {
    await run('create', 'serviceaccount', 'leaver');
    await run(
      'create',
      'clusterrolebinding',
      'leaver',
      '--clusterrole=cluster-admin',
      '--serviceaccount=default:leaver',
    );
    const token = await run('create', 'token', 'leaver');
    await becomes('/configz', token, 200);
    assert.equal((await get('/statusz', token)).code, 200);
    await run('delete', 'serviceaccount', 'leaver');
    await becomes('/configz', token, 401);
  });

  test('takes other settings while it runs', async () => {
    const token = await run('create', 'token', 'scraper');
    await becomes('/configz', token, 403);
    await writeFile(
      configFile(),
      `${config}authentication: {webhook: {enabled: false}}\n`.replace(/^authentication.*TTL.*\n/m, ''),
    );
    const { code, stderr } = await nodeward(['reload', '--root-dir', rootDir()]);
    assert.equal(code, 0, stderr);
    assert.equal((await get('/configz', token)).code, 401);
  });
});
