/** How names of a kind are checked: as RFC 1123 subdomain or label, as RFC 1035 label, or any one path segment. */
export type NameRule = 'subdomain' | 'label' | 'hostLabel' | 'pathSegment';

const labelPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const labelLimit = 63;
const subdomainLimit = 253;

/** What is wrong with a name under a rule, or undefined. RFC 1123 for labels and subdomains, RFC 1035 for host labels. */
export function checkName(rule: NameRule, name: string): string | undefined {
  if (rule === 'pathSegment') return checkPathSegment(name);
  if (rule === 'label') return checkLabel(name);
  if (rule === 'hostLabel') return checkHostLabel(name);
  if (name.length > subdomainLimit) return `must be no more than ${subdomainLimit} characters`;
  if (name.split('.').every((part) => labelPattern.test(part))) return undefined;
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')";
}

/**
 * What is wrong with the prefix of a generated name, or undefined: letters and digits follow, so it may end in what
 * a name may not end in.
 */
export function checkNamePrefix(rule: NameRule, prefix: string): string | undefined {
  if (rule === 'pathSegment') return checkSeparators(prefix);
  return checkName(rule, prefix.replace(/(?<=.)-$/, 'a'));
}

function checkLabel(name: string): string | undefined {
  if (name.length > labelLimit) return `must be no more than ${labelLimit} characters`;
  if (labelPattern.test(name)) return undefined;
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc')";
}

/** As a label that begins with a letter. */
function checkHostLabel(name: string): string | undefined {
  if (name.length > labelLimit) return `must be no more than ${labelLimit} characters`;
  if (labelPattern.test(name) && /^[a-z]/.test(name)) return undefined;
  return "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123')";
}

function checkPathSegment(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  return checkSeparators(name);
}

function checkSeparators(name: string): string | undefined {
  if (name.includes('/')) return "may not contain '/'";
  if (name.includes('%')) return "may not contain '%'";
  return undefined;
}

const qualifiedNamePart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** What is wrong with the key of a label or annotation (`[prefix/]name`), or undefined. */
export function checkQualifiedName(key: string): string | undefined {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) return 'a qualified name has at most one prefix: [prefix/]name';
  if (parts.length === 2) {
    const wrong = parts[0] === '' ? 'must be non-empty' : checkName('subdomain', parts[0] ?? '');
    if (wrong !== undefined) return `prefix part ${wrong}`;
  }
  if (name === '') return 'name part must be non-empty';
  if (name.length > labelLimit) return `name part must be no more than ${labelLimit} characters`;
  if (qualifiedNamePart.test(name)) return undefined;
  return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc')";
}

/** What is wrong with the value of a label, or undefined. */
export function checkLabelValue(value: string): string | undefined {
  if (value.length > labelLimit) return `must be no more than ${labelLimit} characters`;
  if (labelValue.test(value)) return undefined;
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345')";
}

const dataKey = /^[-._a-zA-Z0-9]+$/;

/** What is wrong with the key of a value in a ConfigMap or Secret, or undefined. It may become the name of a file. */
export function checkDataKey(key: string): string | undefined {
  if (key.length > subdomainLimit) return `must be no more than ${subdomainLimit} characters`;
  if (key === '.' || key === '..') return `must not be '${key}'`;
  if (key.startsWith('..')) return "must not start with '..'";
  if (dataKey.test(key)) return undefined;
  return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name')";
}

/** Finalizers without a domain. */
const plainFinalizers = ['foregroundDeletion', 'kubernetes', 'orphan'];

/** What is wrong with a finalizer, or undefined: all controllers share one list, so a finalizer names its domain. */
export function checkFinalizerName(finalizer: string): string | undefined {
  const wrong = checkQualifiedName(finalizer);
  if (wrong !== undefined || finalizer.includes('/') || plainFinalizers.includes(finalizer)) return wrong;
  return 'name is neither a standard finalizer name nor is it fully qualified';
}
