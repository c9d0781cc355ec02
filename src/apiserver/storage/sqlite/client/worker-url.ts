/** Where the writer thread's code is: beside this source, or beside the bundle that holds it. */
export function writerUrl(): URL {
  const name = import.meta.url.endsWith('.ts') ? '../writer/writer.ts' : './sqlite-writer.js';
  return new URL(name, import.meta.url);
}
