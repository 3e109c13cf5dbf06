/** The user's answer about the advisory layer. */
export interface IntelligenceAnswer {
  readonly provider: 'local' | 'compatible-api';
  readonly model: string;
  readonly base_url: string;
  /** The name of an environment variable; `null` if the backend needs no key. */
  readonly api_key_env: string | null;
}

/** Returns the text of `service.yaml`. `intelligence` is `null` if the advisory layer was not requested. */
export function buildConfigurationText(full: boolean, intelligence: IntelligenceAnswer | null): string {
  const parts = [HEAD, full ? SERVER_FULL : SERVER, POLICY, full ? POLICY_MORE : '', PROTECTION];
  if (full) parts.push(DOCUMENTS, SCAN, TENANTS);
  parts.push(AUDIT);
  if (full) parts.push(AUDIT_MORE, METRICS, AUTH, LATER);
  parts.push(intelligence === null ? INTELLIGENCE_OFF : writeIntelligence(intelligence));
  return parts.filter((part) => part !== '').join('\n');
}

const HEAD = `# yaml-language-server: $schema=./schemas/service.schema.json
#
# What this service checks, and how it answers. Everything is optional: what is not here has a default that
# keeps secrets in and personal data masked. A running service picks changes up by itself; a file with a
# mistake in it changes nothing. Check it with: customshouse validate
#
# \${NAME} takes a value from the environment. Credentials are always written that way.
`;

const SERVER = `server:
  host: 127.0.0.1
  port: 8000
  # sidecar: one agent on this machine. gateway: many agents; each request says which.
  mode: sidecar
`;

const SERVER_FULL = `server:
  # An address that others can reach asks everyone but this machine for a credential.
  host: 127.0.0.1
  port: 8000
  # sidecar: one agent on this machine. gateway: many agents; each request says which.
  mode: sidecar
  # Processes that answer. One per core is plenty.
  workers: 1
  # Web pages that may call, as \`https://app.example.com\`. None by default.
  cors_origins: []
  # Larger requests are refused with 413.
  body_bytes_max: 10485760
`;

const POLICY = `policy:
  # What happens to data whose tag no rule names: block, redact, flag or allow.
  default_action: block
`;

const POLICY_MORE = `  # The rules that come with the service, asked after your own.
  builtin_rules: true
  # Tools without a contract: allow (the default in sidecar mode) or block (in gateway mode).
  # undeclared_tools: block
  # Agents without an identity: allow or block.
  unknown_agents: allow
`;

const PROTECTION = `secret_detection:
  enabled: true

pii_protection:
  enabled: true
  # What happens to personal data in prompts and answers: redact, block, flag or allow.
  action: redact

# For short rules; longer lists are easier to read in policies/*.yaml.
policies: []
`;

const DOCUMENTS = `# Where the documents are, seen from this file.
paths:
  policy_files: [policies/*.yaml]
  contract_files: [contracts/*.yaml]
  identity_files: [agents/*.yaml]
  memory_schema_files: [schemas/*.yaml]
`;

const SCAN = `scan:
  # Longer texts are blocked, because they cannot be scanned in full.
  text_bytes_max: 8388608
  # Folders from which /v1/scan/file may read. None by default.
  file_roots: []

redaction:
  # true writes [REDACTED:ssn] in place of [REDACTED].
  typed: false
`;

const TENANTS = `# Rules for one tenant come before those for all.
# tenants:
#   acme:
#     policies:
#       - name: acme-allows-personal-data
#         boundary: input
#         data_tags: [personal]
#         action: allow
`;

const AUDIT = `audit:
  enabled: true
  # Calls as people see them, with secrets and personal data masked: blocked, all or none.
  log_actions: blocked
  # What is logged is the text with everything that was found masked.
  log_inputs: false
  log_outputs: false
`;

const AUDIT_MORE = `  # A journal file is closed at this size, compressed, and kept for so many days.
  max_size_mb: 100
  max_age_days: 90
  compress_rotated: true
`;

const METRICS = `metrics:
  enabled: true
  endpoint: /v1/metrics
`;

const AUTH = `auth:
  # true asks callers on this machine for a credential too.
  required: false
  # Keys of agents' programs: make one with \`customshouse token create\`.
  api_keys: []
`;

const LATER = `# Nothing is forwarded to a model provider until one is configured here.
# proxy:
#   # Seconds for an answer, or for the beginning of a streamed one.
#   timeout_seconds: 600
#   providers:
#     - name: openai
#       family: openai
#       api_key: \${OPENAI_API_KEY}
#     - name: anthropic
#       family: anthropic
#       api_key: \${ANTHROPIC_API_KEY}
#   retry:
#     max_attempts: 3
#     backoff_factor: 0.5

# secrets:
#   backend: env

# alerts:
#   channels:
#     - type: paging
#       routing_key: \${PAGING_ROUTING_KEY}
`;

const INTELLIGENCE_OFF = `# The advisory layer is off. It never decides anything, and sees metadata only.
intelligence:
  enabled: false
`;

function writeIntelligence(answer: IntelligenceAnswer): string {
  const lines = [
    '# The advisory layer never decides anything, and sees metadata only.',
    'intelligence:',
    '  enabled: true',
    '  backend:',
    `    provider: ${answer.provider}`,
    `    model: ${quoteText(answer.model)}`,
    `    base_url: ${quoteText(answer.base_url)}`,
  ];
  if (answer.api_key_env !== null) {
    lines.push('    # The name of an environment variable, never the key itself.');
    lines.push(`    api_key_env: ${answer.api_key_env}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Quotes a string for YAML, which accepts every JSON string. `$` is doubled, so that it is not a reference. */
function quoteText(text: string): string {
  return JSON.stringify(text).replaceAll('${', () => '$${');
}
