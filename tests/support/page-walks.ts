/** How-to pages and their needs: one service, preparations, and commands that other tests run. */
export interface PageWalk {
  /** Commands before the page's first one. */
  readonly prepare?: readonly string[];
  /** Commands that are repeated until they print an ID. */
  readonly repeated?: readonly string[];
  /**
   * Commands that do not run here, by how they or their output begin, with the reason or the test that runs them. `$` ends a
   * whole command.
   */
  readonly left?: Readonly<Record<string, string>>;
}

const ENDLESS = 'it does not end: tests/follow.test.ts, tests/events.test.ts';
const scan = (text: string) =>
  `curl -s http://127.0.0.1:8000/v1/scan/input -H 'content-type: application/json' -d '{"text":"${text}","agent_id":"support-bot","session_id":"sess-1"}'`;
const BLOCKED = scan('Use key sk-ABCDEF1234567890');
const call = (command: string) =>
  `curl -s http://127.0.0.1:8000/v1/intercept/tool -H 'content-type: application/json' -d '{"tool":"Bash","agent_id":"planner","session_id":"sess-1","input":{"command":"${command}"}}'`;
const DELETED = call('rm -rf /');
const FETCHED = `curl -s http://127.0.0.1:8000/v1/intercept/tool -H 'content-type: application/json' -d '{"tool":"WebFetch","agent_id":"planner","session_id":"sess-1","phase":"response","output":"Hello."}'`;

/** Sections of the configuration in addition to those that `customshouse init` writes. */
export const CONFIG = {
  cost: { budgets: [{ name: 'per-user', scope: { user_id: 'each' }, limit_usd: 5, period: 'day' }] },
  paths: { memory_schema_files: ['schemas/memory.yaml'] },
};

export const WALKS: Readonly<Record<string, PageWalk>> = {
  'act-for-people': {
    left: {
      'curl -s': 'it needs the key of the configuration: tests/principals.test.ts',
      SERVICE_USER_TOKEN: 'it needs a coding agent: tests/hook/user-token.long.test.ts',
    },
  },
  'check-hooks': { left: { 'customshouse doctor': 'tests/hook/doctor.test.ts' } },
  'back-up': {
    left: { 'customshouse audit verify --dir': 'tests/backup.long.test.ts' },
  },
  deploy: { left: { 'customshouse serve': 'it does not end: the service of this test' } },
  'give-evidence': {
    prepare: [BLOCKED, 'customshouse audit export --pack evidence.tar.gz --since 1d'],
    left: {
      'customshouse audit export': 'it names a period that has no events: the preparation',
      'node verify.mjs': 'tests/evidence.test.ts',
      jq: 'the program may not be installed',
    },
  },
  'hold-events': {
    prepare: [DELETED],
    left: { 'customshouse audit verify': 'it needs deleted events: tests/legal-holds.test.ts' },
  },
  'issue-capability-tokens': {},
  'keep-memory': {},
  'limit-costs': {},
  'manage-api-keys': {},
  'manage-secrets': {
    left: {
      'customshouse secrets check db_password': 'it needs a backend: src/drivers/secrets/backends.test.ts',
      'curl -s http://127.0.0.1:8000/v1/secrets/resolve': 'it needs a backend: tests/capabilities.test.ts',
    },
  },
  'manage-tenants': {
    left: { 'customshouse tenants rollback': 'the tenant has no third version: tests/tenants.test.ts' },
  },
  'measure-detection': {
    prepare: [
      `echo '{"id": "a1", "text": "Write to jane@mailbox.org", "label": "pii", "labels": [{"start": 9, "end": 25, "type": "EMAIL"}]}' > rows.jsonl`,
      `echo '{"id": "c1", "text": "rm -rf /", "label": "attack"}' | gzip > commands.jsonl.gz`,
      `echo '{"id": "s1", "text": "Hello.", "label": "benign"}' > secrets.jsonl`,
    ],
  },
  'operate-storage': {
    left: {
      createuser: 'it needs PostgreSQL: tests/store.test.ts',
      createdb: 'it needs PostgreSQL: tests/store.test.ts',
      sqlite3: 'the program may not be installed',
    },
  },
  'raise-alerts': {
    repeated: ['customshouse alerts history'],
    left: { 'customshouse alerts resend': 'no message is dead here: tests/alerts.long.test.ts' },
  },
  'report-compliance': {
    left: { 'customshouse compliance report': 'it needs a browser: tests/compliance/report.test.ts' },
  },
  'restrict-data-flows': { prepare: [FETCHED] },
  'set-up-agents': {
    left: {
      'customshouse setup': 'tests/hook/setup.test.ts, tests/hook/setup-shared.test.ts',
      'customshouse replay': 'it reads the transcripts of a user: src/entry/cli/replay.test.ts',
      'customshouse hook': 'tests/hook/setup.test.ts',
      'customshouse serve': 'it does not end',
      'git add': 'it needs a repository',
    },
  },
  'sign-in': {},
  'run-a-cluster': {},
  'test-policies': {
    prepare: [DELETED],
    left: {
      'customshouse policy replay': 'its counts depend on the traffic: src/entry/cli/policy.long.test.ts',
    },
  },
  troubleshoot: {
    prepare: [DELETED],
    left: {
      'customshouse doctor': 'it needs a hook: tests/hook/doctor.test.ts',
      'customshouse allow': 'it asks at a terminal: tests/allow.test.ts',
    },
  },
  'use-skills': {
    left: { 'customshouse skills add pci-dss$': 'it asks at a terminal: the same with `--dry-run`' },
  },
  'verify-audit-log': {
    prepare: [BLOCKED],
    left: {
      broken: 'it needs a broken log: src/runtime/audit/verify.long.test.ts',
      'customshouse audit verify --dir': 'it names a backup: tests/legal-holds.test.ts',
    },
  },
  'watch-events': {
    prepare: [BLOCKED],
    left: {
      'customshouse observe agents --last 7d': 'its rows depend on the traffic',
      'curl -N': ENDLESS,
      'customshouse logs --follow': ENDLESS,
    },
  },
  'write-policies': {
    left: { 'customshouse init': 'it ran before the service: src/entry/cli/init.test.ts' },
  },
};

/** Pages whose commands other tests run, or that need what no test has. */
export const LEFT_PAGES: Readonly<Record<string, string>> = {
  'docs/tutorial/attacked-mailbox.md': 'tests/readme.test.ts',
  'docs/how-to/add-a-classifier.md': 'tests/classifier.test.ts',
  'docs/how-to/approve-tool-calls.md': 'tests/approvals-page.test.ts',
  'docs/how-to/draft-a-policy.md': 'tests/policy-draft.long.test.ts',
  'docs/how-to/export-telemetry.md': 'src/runtime/observability/telemetry/telemetry.test.ts',
  'docs/how-to/guard-mcp-servers.md': 'tests/mcp/gateway.test.ts',
  'docs/how-to/guard-python-agents.md': 'tests/python/package.long.test.ts',
  'docs/how-to/guard-typescript-agents.md': 'tests/pack.nightly.test.ts',
  'docs/how-to/receive-alert-webhooks.md': 'tests/alert-webhook-receiver.test.ts',
  'docs/how-to/route-model-calls.md': 'tests/gateway/fidelity.test.ts',
  'docs/how-to/ship-the-audit-log.md': 'tests/log-shipping.long.test.ts',
  'docs/how-to/use-advisors.md': 'tests/intelligence/answers.test.ts',
  'docs/how-to/use-mcp-server.md': 'tests/mcp/server.test.ts',
  'docs/how-to/write-plugins.md': 'tests/plugins.test.ts',
  'docs/tutorial/coding-agent.md': 'tests/hook/first-use.test.ts',
  'docs/tutorial/llm-application.md': 'tests/readme.test.ts',
  'docs/tutorial/mcp-server.md': 'tests/readme.test.ts',
};
