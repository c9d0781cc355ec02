/** Images tagged `latest`, explicitly or by having neither tag nor digest, are pulled each time. */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest] = image.split('@', 2);
  const tag = /:([^:/]*)$/.exec(name)?.[1] ?? (digest === undefined ? 'latest' : '');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}
