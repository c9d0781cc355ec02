/**
 * The library is loaded only when a certificate is issued or a request is read: reading certificates needs node:crypto
 * alone, and a process that already has its certificates should not pay for the library (20 MB, 180 ms).
 */
export async function loadX509() {
  await import('reflect-metadata'); // must come first: the library's dependencies look for it while they load
  return await import('@peculiar/x509');
}

export type X509Library = Awaited<ReturnType<typeof loadX509>>;
