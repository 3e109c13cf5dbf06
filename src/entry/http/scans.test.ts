import { test } from 'node:test';
import { EMAIL, KEY, post, runScenarios, type Scenario, SSN } from './testing/scenarios.ts';

const input = (body: unknown, headers?: Record<string, string>) => post('/v1/scan/input', body, headers);
const structured = (body: unknown) => post('/v1/scan/structured', body);
const output = (body: unknown) => post('/v1/guard/output', body);

const scenarios: readonly Scenario[] = [
  {
    name: 'the key of the interface document is blocked, and shown to its sender',
    ask: input({ text: `Use key ${KEY}` }),
    has: {
      decision: 'block',
      action: 'block',
      event_id: 'evt_000000000000000000000001',
      coverage: 'full',
      violations: [
        {
          type: 'secret_detected',
          detector: 'api_key',
          severity: 'critical',
          match: KEY,
          start: 8,
          end: 27,
        },
      ],
    },
    lacks: ['modified_text', 'fallback_used', 'coverage_reason', 'fault', 'error', 'code'],
  },
  {
    name: 'a social security number is masked on the way in',
    ask: input({ text: `My number is ${SSN}.` }),
    has: {
      decision: 'modify',
      action: 'redact',
      modified_text: 'My number is [REDACTED].',
      violations: [{ type: 'pii_detected', detector: 'ssn', severity: 'high', match: SSN }],
    },
  },
  {
    name: 'a clean text is allowed, with an empty list',
    ask: input({ text: 'What is the weather?', agent_id: 'a1', context: { tool: 't', session_id: 's' } }),
    has: { decision: 'allow', action: 'allow', rule: 'default.allow', violations: [], coverage: 'full' },
    lacks: ['modified_text'],
  },
  { name: 'an empty text is a text', ask: input({ text: '' }), has: { decision: 'allow', violations: [] } },
  {
    name: 'offsets count code points',
    ask: input({ text: `😀😀 ${SSN}` }),
    has: { violations: [{ start: 3, end: 14, match: SSN }] },
  },
  {
    name: 'names that are null or blank are absent',
    ask: input({ text: 'x', agent_id: null, tenant_id: ' ', context: { tool: null, session_id: '' } }),
    has: { decision: 'allow' },
  },
  {
    name: 'a body of another type is not read',
    ask: input('{"text":"hello","__proto__":{"text":"x"},"constructor":1,"more":{"text":"y"}}'),
    status: 415,
    has: { code: 'unsupported_media_type' },
  },
  {
    name: 'unknown fields are refused',
    ask: {
      path: '/v1/scan/input',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"hello","__proto__":{"text":"x"},"constructor":1,"more":{"text":"y"}}',
    },
    status: 400,
    has: { code: 'invalid_request' },
  },
  {
    name: 'a payload is looked at leaf by leaf',
    ask: structured({ payload: { a: [{ note: `Use ${KEY}` }], b: 7 } }),
    has: { decision: 'block', violations: [{ path: '$.a[0].note', match: KEY, start: 4, end: 23 }] },
    lacks: ['modified_payload', 'modified_text'],
  },
  {
    name: 'a payload keeps its shape when it is masked',
    ask: structured({ payload: { user: { mail: EMAIL }, keep: [1, null, true] } }),
    has: {
      decision: 'modify',
      modified_payload: { user: { mail: '[REDACTED]' }, keep: [1, null, true] },
      violations: [{ type: 'pii_detected', detector: 'email', path: '$.user.mail' }],
    },
  },
  { name: 'a payload may be null', ask: structured({ payload: null }), has: { decision: 'allow' } },
  {
    name: 'a payload may be a text',
    ask: structured({ payload: `Use ${KEY}` }),
    has: { decision: 'block' },
  },
  {
    name: 'a connection string is masked on the way out, and not shown',
    ask: output({
      text: `Here is the config: DATABASE_URL=${['postgresql:', '', 'admin:p4ssw0rd@db.internal:5432', 'prod'].join('/')}`,
    }),
    has: {
      decision: 'modify',
      modified_text: 'Here is the config: DATABASE_URL=[REDACTED]',
      violations: [{ type: 'secret_detected', detector: 'connection_string' }],
    },
    forbidden: ['p4ssw0rd', '"match"'],
  },
];

test('scans and the guard', () => runScenarios({ options: {}, scenarios }));

const tenants: readonly Scenario[] = [
  { name: 'a scan needs no agent', ask: input({ text: 'hi' }), has: { decision: 'allow' } },
  { name: 'the global rules without a tenant', ask: input({ text: EMAIL }), has: { decision: 'modify' } },
  {
    name: 'the tenant in the body',
    ask: input({ text: EMAIL, tenant_id: 'acme' }),
    has: { decision: 'allow', rule: 'acme-allows' },
  },
  {
    name: 'the tenant in the context',
    ask: input({ text: EMAIL, context: { tenant_id: 'globex' } }),
    has: { decision: 'block', rule: 'globex-blocks-mail' },
  },
  {
    name: 'the tenant in the header',
    ask: input({ text: EMAIL }, { 'x-service-tenant': 'acme' }),
    has: { decision: 'allow' },
  },
  {
    name: 'the body comes before the header',
    ask: input({ text: EMAIL, tenant_id: 'globex' }, { 'x-service-tenant': 'acme' }),
    has: { decision: 'block' },
  },
  {
    name: 'a tenant without rules',
    ask: input({ text: EMAIL, tenant_id: 'other' }),
    has: { decision: 'modify' },
  },
  {
    name: 'a tenant allows personal data, never a secret beside it',
    ask: input({ text: `${EMAIL} ${KEY}`, tenant_id: 'acme' }),
    has: { decision: 'block' },
  },
  {
    name: 'a header that is none',
    ask: input({ text: 'x' }, { 'x-service-tenant': 'a'.repeat(257) }),
    status: 400,
    has: { code: 'invalid_request' },
  },
];

test('each tenant has its own rules, and the global ones where it has none', () =>
  runScenarios({
    options: {
      mode: 'gateway',
      rules: [
        {
          name: 'globex-blocks-mail',
          boundary: 'input',
          data_tags: ['personal.pii'],
          action: 'block',
          tenant_id: 'globex',
        },
      ],
      tenants: {
        acme: [{ name: 'acme-allows', boundary: 'input', data_tags: ['personal.pii'], action: 'allow' }],
      },
    },
    scenarios: tenants,
  }));
