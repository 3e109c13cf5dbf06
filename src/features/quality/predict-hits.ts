import { judge } from '../../core/decision/judge.ts';
import type { Crossing, Policy, Severity } from '../../core/types/index.ts';
import { SEVERITIES } from '../../core/types/index.ts';
import {
  buildTextCrossing,
  buildToolCrossing,
  buildUnknownActor,
} from '../../runtime/enforcement/crossings.ts';
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
 * @param severityMin findings below it do not count
 */
export function predictHits(
  text: string,
  category: Category,
  policy: Policy,
  severityMin: Severity,
): Prediction {
  const { findings, coverage } = judge(
    category === 'commands' ? buildToolCall(text) : buildPrompt(text),
    policy,
  );
  const { finds } = CATEGORY_FACTS[category];
  const least = SEVERITIES.indexOf(severityMin);
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

const ACTOR = { ...buildUnknownActor(0), agent_id: 'bench' };

function buildPrompt(text: string): Crossing {
  return buildTextCrossing('input', ACTOR, { kind: 'text', text });
}

function buildToolCall(command: string): Crossing {
  const content = { kind: 'json', value: { command } } as const;
  return buildToolCrossing(ACTOR, { phase: 'request', tool: 'shell', content });
}
