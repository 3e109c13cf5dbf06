/**
 * Measures the cost of a scan of clean text, in process and on one thread, as a ratio to `JSON.parse` of the
 * same bytes: `detect` and `judge`, on text and on the parsed value.
 * `node benchmarks/judge/run.ts`
 */
import assert from 'node:assert/strict';
import { detect } from '../../src/core/detect/detect.ts';
import { compilePolicy, judge } from '../../src/core/index.ts';
import { DETECTION, DETECTION_SETTINGS } from '../../src/core/testing/policies.ts';
import type { Content, Crossing, Json, Policy, ScanLimits } from '../../src/core/types/index.ts';
import { median, spread } from '../measure.ts';
import { recordsText } from './records.ts';

const SIZES = [200, 1024, 10_240, 102_400, 262_144, 1_048_576];
const ROUNDS = 9;
const BYTES_PER_ROUND = 4 << 20;
const LIMITS: ScanLimits = {
  text_bytes_max: 8 << 20,
  depth_max: 100,
  nodes_max: 1 << 20,
  findings_max: 1000,
};

type Subject = (text: string, value: Json) => unknown;

const subjects: Record<string, Subject> = {
  'JSON.parse': (text) => JSON.parse(text),
  'detect text': (text) => clean(detect({ kind: 'text', text }, DETECTION, LIMITS)),
  'detect value': (_, value) => clean(detect({ kind: 'json', value }, DETECTION, LIMITS)),
  'judge text': (text) => allowed({ kind: 'text', text }),
  'judge value': (_, value) => allowed({ kind: 'json', value }),
};

const policy = defaultPolicy();
const crossing: Omit<Crossing, 'content'> = {
  boundary: 'input',
  phase: null,
  tenant_id: 'default',
  agent_id: 'planner',
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  tool: null,
  declared_tags: [],
  now_ms: 0,
};

function allowed(content: Content): unknown {
  const verdict = judge({ ...crossing, content }, policy);
  assert.equal(verdict.decision, 'allow');
  return verdict;
}

/** Returns the policy of a service without a configuration file. */
function defaultPolicy(): Policy {
  const settings = {
    default_action: 'block',
    builtin_rules: true,
    undeclared_tools: 'allow',
    unknown_agents: 'allow',
    file: 'service.yaml',
    ...DETECTION_SETTINGS,
    pii_protection: { enabled: true, action: 'redact' },
    limits: LIMITS,
    redaction: { typed: false },
  } as const;
  const { policy: compiled, problems } = compilePolicy({ inline_rules: [], documents: [], settings });
  assert.ok(compiled !== null, JSON.stringify(problems));
  return compiled;
}

function clean(found: ReturnType<typeof detect>): unknown {
  assert.equal(found.findings.length, 0, 'the text of the benchmark must be clean');
  return found;
}

/** Returns the nanoseconds per byte of one round. */
function round(subject: Subject, text: string, value: Json): number {
  const times = Math.max(1, Math.round(BYTES_PER_ROUND / text.length));
  const from = performance.now();
  for (let at = 0; at < times; at++) subject(text, value);
  return ((performance.now() - from) * 1e6) / (times * text.length);
}

const perByte = new Map<string, number>();
console.log(
  `node ${process.version}, ${ROUNDS} interleaved rounds; ratio to JSON.parse: median (lowest to highest)`,
);
for (const size of SIZES) {
  const text = recordsText(size);
  const value: Json = JSON.parse(text);
  const content: Content = { kind: 'text', text };
  assert.equal(Buffer.byteLength(content.text), size);
  const times = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
  for (let at = 0; at < ROUNDS + 2; at++) {
    for (const [name, subject] of Object.entries(subjects)) {
      const ns = round(subject, text, value);
      if (at >= 2) times.get(name)!.push(ns);
    }
  }
  const base = times.get('JSON.parse')!;
  for (const [name, all] of times) {
    perByte.set(`${name} ${size}`, median(all));
    const ratios = all.map((ns, at) => ns / base[at]!);
    const speed = 1000 / median(all);
    console.log(
      `${String(size).padStart(8)} B  ${name.padEnd(13)} ${spread(ratios)}  ${speed.toFixed(0)} MB/s`,
    );
  }
}
for (const name of Object.keys(subjects)) {
  const ratio = (4 * perByte.get(`${name} 1048576`)!) / perByte.get(`${name} 262144`)!;
  console.log(`1 MB takes ${ratio.toFixed(2)} times 256 KB: ${name}`);
}
