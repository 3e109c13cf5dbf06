import { createHmac, timingSafeEqual } from 'node:crypto';
import { readLinkKey } from '../../runtime/access/link-key.ts';

/** Builds and verifies the links that messages about approval requests carry. */
export interface ApprovalLinks {
  /** Returns the link that opens a request in the console until it expires. It grants nothing. */
  readonly build: (request_id: string, expires_ms: number) => string;
  /** Returns whether this service made the link, and the request has not expired. */
  readonly verify: (link: ApprovalLinkParts, now_ms: number) => boolean;
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
 * @param console_url - the origin of the console, without a path
 */
export function openApprovalLinks(state_dir: string, console_url: string): ApprovalLinks {
  let key: string | null = null;
  const sign = (request_id: string, expires_ms: number): string => {
    key ??= readLinkKey(state_dir);
    return createHmac('sha256', key).update(`${request_id}.${expires_ms}`).digest('base64url');
  };
  return {
    build: (request_id, expires_ms) =>
      `${console_url}/v1/approvals/${request_id}/open?expires=${expires_ms}&signature=${sign(request_id, expires_ms)}`,
    verify: ({ request_id, expires_ms, signature }, now_ms) => {
      const expected = Buffer.from(sign(request_id, expires_ms));
      const given = Buffer.from(signature);
      const is_ours = expected.length === given.length && timingSafeEqual(expected, given);
      return is_ours && now_ms < expires_ms;
    },
  };
}
