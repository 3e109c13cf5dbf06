import { join } from 'node:path';
import { evaluate } from '../../core/decision/evaluate.ts';
import type { Policy } from '../../core/types/index.ts';
import { formatCount } from '../../operations/cli-kit/format-table.ts';
import { isLoopbackHost } from '../../platform/net/loopback.ts';
import { describeStore, parseStoreSettings } from '../../platform/store/settings.ts';
import { needsAgentToken } from '../../runtime/access/index.ts';
import type { FirstSignIn } from '../../runtime/access/types.ts';
import type { Config } from '../../runtime/config/index.ts';

/** The report of a started service. */
export interface StartReport {
  readonly version: string;
  readonly mode: string;
  readonly workers: number;
  readonly url: string;
  readonly docs_url: string;
  /** `true` if it listens on all interfaces of the machine. */
  readonly all_interfaces: boolean;
  /** `null` if there is no file and the defaults apply. */
  readonly config_file: string | null;
  readonly policy_hash: string;
  readonly rules: number;
  readonly builtin_rules: number;
  readonly contracts: number;
  readonly identities: number;
  readonly state_dir: string;
  /** The store of approvals, tokens, sessions and budgets: a file, or a database without its credentials. */
  readonly store: string;
  readonly access: string;
  /** The one-time link of the first administrator, or the command for one; `null` if there is an administrator. */
  readonly first_sign_in: string | null;
  /** A command line to try. */
  readonly try: string;
  /** The action of the policy on that command; `block` by default. */
  readonly try_action: string;
  readonly warnings: readonly string[];
}

interface StartedConfig {
  readonly version: string;
  readonly config: Config;
  readonly policy: Policy;
  /** The actual port on which it listens. */
  readonly port: number;
  readonly warnings: readonly string[];
  readonly first_sign_in: FirstSignIn;
}

const ADD_ADMINISTRATOR = '`customshouse users add NAME --role admin --tenant "*"` prints a link';

/** Builds the report. */
export function buildStartReport({
  version,
  config,
  policy,
  port,
  warnings,
  first_sign_in,
}: StartedConfig): StartReport {
  const url = `http://${toReachableHost(config.server.host)}:${port}`;
  return {
    version,
    mode: config.server.mode,
    workers: config.server.workers,
    url,
    docs_url: `${url}/docs`,
    all_interfaces: ['0.0.0.0', '::', '*'].includes(config.server.host),
    config_file: config.origin.file,
    policy_hash: policy.hash,
    rules: policy.rules.length,
    builtin_rules: policy.builtin_rules.length,
    contracts: policy.contracts.length,
    identities: policy.identities.length,
    state_dir: config.state_dir,
    store: describeStore(parseStoreSettings(config)),
    access: describeAccess(config),
    first_sign_in: first_sign_in && (first_sign_in.link ?? ADD_ADMINISTRATOR),
    try: buildTryCommand(url, config),
    try_action: tryAction(policy),
    warnings,
  };
}

/** Returns an address that this machine can call, because an address that means "all interfaces" cannot be called. */
export function toReachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function describeAccess(config: Config): string {
  const { auth } = config;
  const known = [
    auth.api_keys.length > 0 && formatCount(auth.api_keys.length, 'API key'),
    auth.jwt !== null && `signed tokens of ${auth.jwt.issuer}`,
    needsAgentToken({ auth, host: config.server.host }) && 'the agent token (customshouse token show)',
  ].filter((part) => part !== false);
  const local = auth.required
    ? 'every request needs a credential'
    : 'programs on this machine may check without a credential';
  const accepted = known.length === 0 ? '' : `; accepted: ${known.join(', ')}`;
  return `${local}${accepted}; changes need the operator token (customshouse token show operator)`;
}

function buildTryCommand(url: string, config: Config): string {
  const parts = ['curl -s', `${url}/v1/scan/input`, "-H 'content-type: application/json'"];
  if (needsCredential(config)) parts.push(`-H "authorization: Bearer ${formatCredential(config)}"`);
  return [...parts, `-d '{"text":"Use key sk-ABCDEF1234567890"}'`].join(' ');
}

/** Returns whether a call from this machine to the printed address needs a credential. */
function needsCredential({ auth, server }: Config): boolean {
  return auth.required || !(isLoopbackHost(server.host) || ['0.0.0.0', '::'].includes(server.host));
}

function formatCredential({ auth, server, state_dir }: Config): string {
  if (!needsAgentToken({ auth, host: server.host })) return '$SERVICE_KEY';
  return `$(cat '${join(state_dir, 'agent-token').replaceAll("'", "'\\''")}')`;
}

/** Returns the policy's action on the text of `buildTryCommand`, which contains only an API key. */
function tryAction(policy: Policy): string {
  if (!policy.detection.secret_detection) return 'allow';
  return evaluate(policy, {
    boundary: 'input',
    data_tags: ['secret.credential.api_key'],
    tenant_id: 'default',
  });
}
