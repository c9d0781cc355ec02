/**
 * What makes certificates is loaded only when one is made or a request is read: reading certificates needs
 * node:crypto alone, and a process that has its certificates already should not pay for the rest (20 MB, 180 ms).
 */
export async function loadX509() {
  await import('reflect-metadata'); // must come first: the library's dependencies look for it while they load
  return await import('@peculiar/x509');
}

export type X509Library = Awaited<ReturnType<typeof loadX509>>;
