import { hkdfSync, randomBytes } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { hashJson } from '../../core/policy/compile/canonical-json.ts';
import type { Json } from '../../core/types/index.ts';
import { hashText } from '../../platform/hash-text.ts';
import { readLinkKey } from '../../runtime/access/link-key.ts';

/** The request that a server's state belongs to. */
export interface StatefulRequest {
  readonly server: string;
  /** The tool's or method's name for the policy. */
  readonly name: string;
  readonly input: Json;
}

/** Signs the states that servers leave with one client, and verifies those that the client returns. */
export interface RequestStates {
  readonly sign: (state: string, request: StatefulRequest, context: ServerContext) => Promise<string>;
  /** Returns the server's state; `null` if it was not signed here for this client and request, or has expired. */
  readonly verify: (
    signed: string,
    request: StatefulRequest,
    context: ServerContext,
  ) => Promise<string | null>;
}

const VALID_S = 3_600;

/**
 * Opens one client's states. They are signed and not encrypted.
 *
 * @param getKey - returns the key, 32 bytes or more. All processes that serve the client need the same one.
 * @param client - the client's identity
 */
export function openRequestStates(
  getKey: () => Uint8Array = () => randomBytes(32),
  client = '',
): RequestStates {
  let opened: ReturnType<typeof createRequestStateCodec> | null = null;
  const open = () =>
    (opened ??= createRequestStateCodec({ key: getKey(), ttlSeconds: VALID_S, bind: () => client }));
  const seal = ({ server, name, input }: StatefulRequest) => hashJson([server, name, input], hashText);
  return {
    sign: (state, request, context) => open().mint([seal(request), state], context),
    verify: async (signed, request, context) => {
      try {
        const [sealed, state] = (await open().verify(signed, context)) as [string, string];
        return sealed === seal(request) ? state : null;
      } catch {
        return null;
      }
    },
  };
}

/** Returns the key for all processes on a state folder. It is derived, so that no other signature fits a state. */
export function deriveStateKey(stateDir: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', readLinkKey(stateDir), '', 'mcp request state', 32));
}
