import type { Plugin } from 'esbuild';
import { build } from 'esbuild';

// A bundle's text stays in memory for as long as its process runs, whether it is ever executed or not. So what packages
// require only in cases that are seldom or never ours is put into files of its own, which are read on first use.

/** By the path as it is required in the package: the file that is made for it. */
const seldom: ReadonlyMap<string, string> = new Map([
  ['@fastify/ajv-compiler', 'fastify-ajv'],
  ['@fastify/fast-json-stringify-compiler', 'fastify-stringify'],
  ['light-my-request', 'fastify-inject'],
  ['@grpc/proto-loader', 'grpc-proto-loader'],
  ['../llhttp/llhttp-wasm.js', 'undici-llhttp'],
  ['../web/fetch/formdata', 'undici-formdata'],
  ['../web/fetch/body.js', 'undici-body'],
  ['../web/webidl', 'undici-webidl'],
]);

/**
 * The same for what packages require at once and use only in such cases: they get a stand-in, which reads the file when it
 * is called or asked for a member.
 */
const deferred: ReadonlyMap<string, string> = new Map([
  ['semver', 'semver'],
  ['@fastify/proxy-addr', 'fastify-proxy-addr'],
  ['@opentelemetry/api', 'opentelemetry'],
  ['thread-stream', 'pino-thread'],
]);

function standIn(name: string): string {
  return `
const load = () => require("./seldom-${name}.cjs");
module.exports = new Proxy(function () {}, {
  get: (_, member) => load()[member],
  apply: (_, self, values) => Reflect.apply(load(), self, values),
  construct: (_, values) => Reflect.construct(load(), values),
});`;
}

/** Of undici what the program uses: no fetch, WebSocket, caches or mocks. A name that is missing here fails the build. */
const undici = `
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import sendRequest from 'undici/lib/api/api-request.js';
Dispatcher.prototype.request = sendRequest;
let shared;
function request(url, { dispatcher = (shared ??= new Agent()), ...options } = {}) {
  const { origin, pathname, search } = new URL(url);
  return dispatcher.request({ method: 'GET', ...options, origin, path: pathname + search });
}
export { Agent, Pool, request };
`;

const standInOf = 'stand-in';

type Found = { readonly entry: string; readonly name: string };

/** Takes what is seldom needed out of the bundle into `seldom-*.cjs` beside it. To be the first of the plugins. */
export const leanPackages: Plugin = {
  name: 'lean-packages',
  setup(setup) {
    const found = new Map<string, Found>();
    setup.onResolve({ filter: /^undici$/ }, ({ resolveDir }) => ({
      path: 'undici',
      namespace: 'lean-package',
      pluginData: resolveDir,
      sideEffects: false,
    }));
    setup.onLoad({ filter: /.*/, namespace: 'lean-package' }, ({ pluginData }) => ({
      contents: undici,
      resolveDir: String(pluginData),
    }));
    setup.onResolve({ filter: /./ }, async ({ path, kind, resolveDir, namespace, pluginData }) => {
      const name = seldom.get(path) ?? deferred.get(path);
      if (namespace === standInOf && path.startsWith('./seldom-')) return { path, external: true };
      if (name === undefined || kind !== 'require-call' || pluginData === seldom) return undefined;
      const { path: entry } = await setup.resolve(path, { kind, resolveDir, pluginData: seldom });
      if (entry === '') return undefined;
      found.set(name, { entry, name });
      if (deferred.has(path)) return { path: name, namespace: standInOf };
      return { path: `./seldom-${name}.cjs`, external: true };
    });
    setup.onLoad({ filter: /.*/, namespace: standInOf }, ({ path }) => ({ contents: standIn(path) }));
    setup.onEnd(async () => {
      await build({
        absWorkingDir: setup.initialOptions.absWorkingDir ?? '.',
        outdir: setup.initialOptions.outdir ?? '.',
        bundle: true,
        platform: 'node',
        target: 'node24',
        format: 'cjs',
        outExtension: { '.js': '.cjs' },
        legalComments: 'linked',
        minify: true,
        logLevel: 'warning',
        entryPoints: Object.fromEntries(
          [...found.values()].map(({ entry, name }) => [`seldom-${name}`, entry]),
        ),
      });
    });
  },
};
