import { isLoopbackHost } from '../../platform/net/loopback.ts';

/** The members of a proposed `service.yaml`. Everything else is for people: credentials, addresses, plug-ins, logs. */
const ALLOWED: Readonly<Record<string, readonly string[] | null>> = {
  version: null,
  server: ['host', 'port', 'mode'],
  policy: ['default_action', 'builtin_rules', 'undeclared_tools', 'unknown_agents'],
  secret_detection: ['enabled'],
  pii_protection: ['enabled', 'action'],
  injection_detection: ['enabled'],
  command_detection: ['enabled'],
  policies: null,
  paths: ['policy_files', 'contract_files', 'identity_files'],
};

/** The patterns of documents in a proposal: the folders into which proposals are written. */
const PATTERNS = /^(?:policies|contracts|agents)\/\*\.ya?ml$/;

/** Returns the reasons why a proposed configuration cannot be used, before it is read as one. */
export async function findConfigurationProblems(text: string): Promise<readonly string[]> {
  const { parse } = await import('yaml');
  let written: unknown;
  try {
    written = parse(text, { maxAliasCount: 0 });
  } catch {
    return ['`service.yaml` is not valid YAML.'];
  }
  if (!isMapping(written)) return ['`service.yaml` must be a mapping.'];
  // A reference could bring a secret into a reason or a name, and the policy would not be the one that was examined.
  if (text.includes('${'))
    return ['`service.yaml` of a proposal may not take values from the environment (`$NAME` in braces).'];
  const problems = Object.entries(written).flatMap(([key, value]) => findMemberProblems(key, value));
  const host = isMapping(written.server) ? written.server.host : undefined;
  if (host !== undefined && !(typeof host === 'string' && isLoopbackHost(host)))
    problems.push(
      '`server.host` of a proposal must be 127.0.0.1; only a person opens the service to others.',
    );
  if (
    isMapping(written.paths) &&
    !Object.values(written.paths)
      .flat()
      .every((each) => PATTERNS.test(String(each)))
  )
    problems.push(
      '`paths` in `service.yaml` may only name `policies/*.yaml`, `contracts/*.yaml` and `agents/*.yaml`.',
    );
  return problems;
}

function findMemberProblems(key: string, value: unknown): string[] {
  const members = Object.hasOwn(ALLOWED, key) ? ALLOWED[key] : undefined;
  if (members === undefined)
    return [
      `\`service.yaml\` has a key that a proposal may not set. Allowed: ${Object.keys(ALLOWED).join(', ')}.`,
    ];
  if (members === null) return [];
  if (!isMapping(value)) return [`\`${key}\` in \`service.yaml\` must be a mapping.`];
  return Object.keys(value).every((each) => members.includes(each))
    ? []
    : [`\`${key}\` in \`service.yaml\` may only have ${members.join(', ')}.`];
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
