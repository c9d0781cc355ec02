import type { CertificateSigningRequest } from '../../../api/index.ts';
import type { Strategy } from '../strategy.ts';

/** Who asks is what the server knows of the caller, whatever the request says. */
export const signingRequestStrategy: Strategy<CertificateSigningRequest> = {
  beforeCreate(request, { user }) {
    if (request.spec === undefined) return request; // validation tells, after this
    const { uid: _uid, extra: _extra, ...spec } = request.spec;
    const extra: Record<string, string[]> = {};
    for (const [key, values] of Object.entries(user.extra)) extra[key] = [...values];
    return {
      ...request,
      spec: {
        ...spec,
        username: user.name,
        groups: [...user.groups],
        ...(user.uid === undefined ? {} : { uid: user.uid }),
        ...(Object.keys(extra).length === 0 ? {} : { extra }),
      },
    };
  },
};
