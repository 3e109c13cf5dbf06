import type { HookAnswer } from '../../coding-agents/record/dialect.ts';
import {
  parseJson,
  rememberNestedSources,
  SOURCE_LIMITS,
  writeExactJson,
} from '../../core/json/value-source.ts';
import type { DialectSpec } from '../../runtime/adapters/types.ts';
import { CONTENT_LEVELS, exchange } from '../../server/socket-exchange.ts';
import { OTHER_SERVICE } from '../../server/socket-failure.ts';
import {
  buildHeaders,
  buildTokenHeader,
  CONFIG_HEADER,
  USER_HEADER,
  VERSION_HEADER,
} from '../../server/socket-headers.ts';
import { getContentSocket } from '../../server/socket-path.ts';
import type { HookRequest } from './hook-request.ts';

/** The result of a request to the owner of the state folder. */
export type OwnerReply =
  | { readonly answers: readonly HookAnswer[] }
  /** No process listens, it ended before it answered, or it runs another configuration or version. */
  | { readonly unavailable: 'not_running' | 'ended' | 'other_service' }
  | { readonly refused: string; readonly code: string };

/** The state folder, and the identity that the process there must match. */
export interface OwnerIdentity {
  readonly state_dir: string;
  readonly config_file: string | null;
  readonly version: string;
  readonly user: string;
}

/**
 * Asks the process that owns the state folder to decide. It has no time limit; the caller sets one.
 * @param userToken - the signed token of the person for whom the agent acts, `null` for none
 */
export async function requestDecision(
  request: HookRequest,
  owner: OwnerIdentity,
  userToken: string | null,
): Promise<OwnerReply> {
  const reply = await exchange(getContentSocket(owner.state_dir), {
    method: 'POST',
    path: '/hook',
    headers: { ...identify(owner), ...buildTokenHeader(userToken) },
    body: writeExactJson(request, CONTENT_LEVELS),
  });
  if ('unavailable' in reply) return reply;
  const answers = parseJson(reply.text);
  if (reply.status !== 200) return readRefusal(answers);
  if (!Array.isArray(answers) || answers.length !== request.checks.length)
    return { refused: 'The service that runs gave no answer that can be read.', code: 'internal' };
  rememberNestedSources(answers, SOURCE_LIMITS, CONTENT_LEVELS);
  return { answers };
}

/**
 * Asks the owner for a dialect that a plug-in describes: plain data, or `null` if its configuration has none. The
 * result is `unavailable` if no process can answer.
 */
export async function requestDialect(
  name: string,
  owner: OwnerIdentity,
): Promise<{ readonly dialect: DialectSpec | null } | { readonly unavailable: true }> {
  const reply = await exchange(getContentSocket(owner.state_dir), {
    method: 'GET',
    path: '/dialects',
    headers: identify(owner),
  });
  if ('unavailable' in reply || reply.status !== 200) return { unavailable: true };
  const dialects = JSON.parse(reply.text) as readonly DialectSpec[];
  return { dialect: dialects.find((each) => each.name === name) ?? null };
}

function identify({ config_file, version, user }: OwnerIdentity): Record<string, string> {
  return buildHeaders({ [USER_HEADER]: user, [VERSION_HEADER]: version, [CONFIG_HEADER]: config_file });
}

function readRefusal(body: unknown): OwnerReply {
  const { code, error } = body as { readonly code: string; readonly error: string };
  return code === OTHER_SERVICE ? { unavailable: OTHER_SERVICE } : { refused: error, code };
}
