import { checkName } from '../../names/index.ts';
import { invalidValue, requiredValue, tooLongValue } from '../cause.ts';
import type { Cause } from '../kind.ts';

/** A domain, a slash, and a path that fits into a name together with a namespace and its own name. */
const maxNameLength = 571;
const legacyName = 'kubernetes.io/legacy-unknown';

/** The causes why requests cannot name this signer. */
export function requestedSignerCauses(signerName: string): Cause[] {
  const field = 'spec.signerName';
  if (signerName !== legacyName) return signerNameCauses(field, signerName);
  return [invalidValue(field, signerName, 'the legacy signerName is not allowed via this API version')];
}

/** The causes why the name of a signer is invalid: `example.com/signer-name`. */
export function signerNameCauses(field: string, signerName: string): Cause[] {
  if (signerName === '') return [requiredValue(field)];
  if (signerName.length > maxNameLength) return [tooLongValue(field, maxNameLength)];
  const [domain = '', path = '', ...more] = signerName.split('/');
  if (path === '' || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalidValue(field, signerName, detail)];
  }
  const wrong = [wrongPart('label', domain), wrongDomain(domain), wrongPart('subdomain', path)];
  return wrong
    .filter((detail) => detail !== undefined)
    .map((detail) => invalidValue(field, signerName, detail));
}

function wrongDomain(domain: string): string | undefined {
  return domain.includes('.') ? undefined : 'should be a domain with at least two segments separated by dots';
}

/** What is wrong with the first invalid part between dots. */
function wrongPart(rule: 'label' | 'subdomain', name: string): string | undefined {
  for (const part of name.split('.')) {
    const wrong = checkName(rule, part);
    if (wrong !== undefined) return `validating label ${JSON.stringify(part)}: ${wrong}`;
  }
  return undefined;
}
