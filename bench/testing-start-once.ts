/** Measures in this process, for bench/testing-start.ts: `node bench/testing-start-once.ts FILE`. */
const [file = ''] = process.argv.slice(2);
const began = performance.now();
const { startApiServer }: typeof import('../src/testing/index.ts') = await import(file);
const importMs = performance.now() - began;

async function startMs(): Promise<number> {
  const startedMs = performance.now();
  await using _server = await startApiServer({ storage: 'memory' });
  return performance.now() - startedMs;
}

const cpuBefore = process.cpuUsage();
const firstMs = await startMs();
const { user, system } = process.cpuUsage(cpuBefore);
const more: number[] = [];
for (let count = 0; count < 20; count++) more.push(await startMs());
const nextMs = more.sort((one, other) => one - other)[10];
process.stdout.write(JSON.stringify({ importMs, firstMs, firstCpuMs: (user + system) / 1000, nextMs }));
