import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { isForeignEntry, readOwnFileSync } from '../../../platform/files/own-file.ts';
import { restrictMode, writePrivateFile } from '../../../platform/files/private-file.ts';

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

const KEY_FILE = 'approval-link-key';
const FILE_KEY = /^[A-Za-z0-9_-]{43}$/;

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

/** Returns the links' key, and creates it if it is missing. */
export function readLinkKey(state_dir: string): string {
  const path = join(state_dir, KEY_FILE);
  writePrivateFile(path, randomBytes(32).toString('base64url'), 'keep');
  restrictMode(path);
  const key = readKeyFile(path);
  // An empty or known key would let anyone sign. Without a key, links of other processes fail their check.
  return FILE_KEY.test(key) ? key : randomBytes(32).toString('base64url');
}

function readKeyFile(path: string): string {
  try {
    return readOwnFileSync(path).trim();
  } catch (fault) {
    if (isForeignEntry(fault)) return '';
    throw fault;
  }
}
