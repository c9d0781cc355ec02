/** What is tagged `latest`, as it is when there is neither tag nor digest, is pulled again each time. */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest] = image.split('@', 2);
  const tag = /:([^:/]*)$/.exec(name)?.[1] ?? (digest === undefined ? 'latest' : '');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}
