import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * An `import` of one of Node's own modules makes Node.js read each of its exports at once, those too that are loaded
 * when they are first asked for: `node:http` then loads the whole of fetch and WebSocket (2 MiB of memory), `node:tls` makes
 * the texts of all public authorities. So a bundle takes from the module only the names that it imports.
 */
export const leanBuiltins: Plugin = {
  name: 'lean-builtins',
  setup(setup) {
    setup.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) => {
      if (kind !== 'import-statement' || !isBuiltin(path)) return undefined;
      return { path, namespace: 'lean-builtin', sideEffects: false };
    });
    setup.onLoad({ filter: /.*/, namespace: 'lean-builtin' }, async ({ path }) => {
      const found: object = await import(path);
      const names = Object.keys(found).filter((name) => name !== 'default' && /^[\w$]+$/.test(name));
      const lines = [
        `const found = process.getBuiltinModule(${JSON.stringify(path)});`,
        'export default found;',
        'const take = (name) => found[name];',
        ...names.map((name) => `export const ${name} = /* @__PURE__ */ take("${name}");`),
      ];
      return { contents: lines.join('\n') };
    });
  },
};
