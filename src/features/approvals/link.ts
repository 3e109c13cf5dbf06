import { createHmac, timingSafeEqual } from 'node:crypto';
import { readLinkKey } from '../../runtime/access/link-key.ts';

/** Builds and verifies the links that messages about approval requests carry. */
export interface ApprovalLinks {
  /** Returns the link that opens a request in the console until it expires. It grants nothing. */
  readonly build: (requestId: string, expiresMs: number) => string;
  /** Returns whether this service made the link, and the request has not expired. */
  readonly verify: (link: ApprovalLinkParts, nowMs: number) => boolean;
}

export interface ApprovalLinkParts {
  readonly request_id: string;
  /** Milliseconds since 1970. */
  readonly expires_ms: number;
  readonly signature: string;
}

/**
 * Opens the links of a state folder. The key is created with the first link.
 *
 * @param consoleUrl - the origin of the console, without a path
 */
export function openApprovalLinks(stateDir: string, consoleUrl: string): ApprovalLinks {
  let key: string | null = null;
  const sign = (requestId: string, expiresMs: number): string => {
    key ??= readLinkKey(stateDir);
    return createHmac('sha256', key).update(`${requestId}.${expiresMs}`).digest('base64url');
  };
  return {
    build: (requestId, expiresMs) =>
      `${consoleUrl}/v1/approvals/${requestId}/open?expires=${expiresMs}&signature=${sign(requestId, expiresMs)}`,
    verify: ({ request_id, expires_ms, signature }, nowMs) => {
      const expected = Buffer.from(sign(request_id, expires_ms));
      const given = Buffer.from(signature);
      const isOurs = expected.length === given.length && timingSafeEqual(expected, given);
      return isOurs && nowMs < expires_ms;
    },
  };
}
