/**
 * Prints the MB of clean text that the scan engine judges in a second of processor time. `large.ts` runs it.
 */
import assert from 'node:assert/strict';
import { compilePolicy, judge } from '../../src/core/index.ts';
import { DETECTION_SETTINGS } from '../../src/core/testing/policies.ts';
import { chatBody } from './texts.ts';

const MB = 1_048_576;
const TIMES = 40;
const US_PER_S = 1_000_000;

const limits = { text_bytes_max: 8 * MB, depth_max: 100, nodes_max: MB, findings_max: 1_000 };
const settings = {
  default_action: 'block',
  builtin_rules: true,
  undeclared_tools: 'allow',
  unknown_agents: 'allow',
  file: 'service.yaml',
  ...DETECTION_SETTINGS,
  pii_protection: { enabled: true, action: 'redact' },
  limits,
  redaction: { typed: false },
} as const;
const { policy, problems } = compilePolicy({ inline_rules: [], documents: [], settings });
assert.ok(policy !== null, JSON.stringify(problems));

const { messages } = JSON.parse(chatBody(MB)) as { messages: [{ content: string }] };
const text = messages[0].content;
const crossing = {
  boundary: 'input',
  phase: null,
  content: { kind: 'text', text },
  tenant_id: 'default',
  agent_id: 'bench',
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  tool: null,
  declared_tags: [],
  now_ms: 0,
} as const;

for (let at = 0; at < 5; at++) assert.equal(judge(crossing, policy).decision, 'allow');
const before = process.cpuUsage();
for (let at = 0; at < TIMES; at++) judge(crossing, policy);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${((TIMES * text.length) / MB / ((user + system) / US_PER_S)).toFixed(2)}\n`);
