import { judge } from '../../core/decision/judge.ts';
import type { Crossing, Policy, Severity } from '../../core/types/index.ts';
import { SEVERITIES } from '../../core/types/index.ts';
import { CATEGORY_FACTS, type Category } from './category.ts';

/** The findings in a text that count for the category. */
export interface Prediction {
  /** UTF-16 offsets, end exclusive; `type` is the rule's id, `detector` its family. */
  readonly hits: readonly {
    readonly start: number;
    readonly end: number;
    readonly type: string;
    readonly detector: string;
  }[];
  /** True if a limit ended the scan before the end of the text; the service would block it. */
  readonly is_partial: boolean;
}

/**
 * Evaluates a text as the service would under the policy: at `input`, or for commands as the arguments `{command:
 * text}` of a tool call.
 * @param severity_min findings below it do not count
 */
export function predictHits(
  text: string,
  category: Category,
  policy: Policy,
  severity_min: Severity,
): Prediction {
  const { findings, coverage } = judge(
    category === 'commands' ? buildToolCall(text) : buildPrompt(text),
    policy,
  );
  const { finds } = CATEGORY_FACTS[category];
  const least = SEVERITIES.indexOf(severity_min);
  const counted = findings.filter(
    // Secrets from published documentation are marked as examples and do not count.
    ({ type, severity, example }) =>
      type === finds && example === undefined && SEVERITIES.indexOf(severity) >= least,
  );
  return {
    hits: counted.map(({ start, end, rule_id, detector }) => ({ start, end, type: rule_id, detector })),
    is_partial: coverage.status === 'partial',
  };
}

const CROSSING_BASE = {
  tenant_id: 'default',
  agent_id: 'bench',
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  declared_tags: [],
  now_ms: 0,
} as const;

function buildPrompt(text: string): Crossing {
  return { ...CROSSING_BASE, boundary: 'input', phase: null, tool: null, content: { kind: 'text', text } };
}

function buildToolCall(command: string): Crossing {
  const content = { kind: 'json', value: { command } } as const;
  return { ...CROSSING_BASE, boundary: 'action', phase: 'request', tool: 'shell', content };
}
