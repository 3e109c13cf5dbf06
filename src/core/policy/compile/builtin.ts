import type { Action, Boundary, Phase, Rule, Severity } from '../../types/index.ts';

/** The lifetime and the number of approvals if the policy sets none. */
export const DEFAULT_APPROVAL: Rule['approval'] = { ttl_ms: 3_600_000, min_approvals: 1 };

type Where = 'input' | 'action' | 'result' | 'output';

const PLACES: Readonly<Record<Where, { boundary: Boundary; phases: readonly Phase[] }>> = {
  input: { boundary: 'input', phases: [] },
  action: { boundary: 'action', phases: ['request', 'message'] },
  result: { boundary: 'action', phases: ['response'] },
  output: { boundary: 'output', phases: [] },
};

const WHERE_WORDS: Readonly<Record<Where, string>> = {
  input: 'in input',
  action: 'in a tool call or message',
  result: 'in a tool result',
  output: 'in output',
};

interface Row {
  readonly family: string;
  readonly words: string;
  readonly actions: Readonly<Record<Where, Action>>;
  /** A stricter action for findings from a severity on, in one place. */
  readonly severe?: { readonly severity_min: Severity; readonly where: Where; readonly action: Action };
}

/**
 * Returns the built-in rules, which apply after the user's rules: one per family and place, named
 * `builtin.<family>.<place>`. Dangerous commands are blocked in tool calls when they are `critical`; injections are
 * blocked in tool results from `high` on. Tags that are only declared have no severity and count as the worst.
 */
export function buildBuiltinRules(pii_action: Action): readonly Rule[] {
  return rows(pii_action).flatMap((row) => [
    ...(row.severe === undefined ? [] : [severeRule(row, row.severe)]),
    ...(Object.keys(PLACES) as Where[]).map((where) => plainRule(row, where)),
  ]);
}

function rows(pii: Action): readonly Row[] {
  const flagged = { input: 'flag', action: 'flag', result: 'flag', output: 'flag' } as const;
  return [
    {
      family: 'secret',
      words: 'A secret was found',
      actions: { input: 'block', action: 'block', result: 'redact', output: 'redact' },
    },
    {
      family: 'personal',
      words: 'Personal data was found',
      actions: { input: pii, action: 'flag', result: 'flag', output: pii },
    },
    {
      family: 'dangerous',
      words: 'A dangerous command was found',
      actions: flagged,
      severe: { severity_min: 'critical', where: 'action', action: 'block' },
    },
    {
      family: 'injection',
      words: 'An attempt to inject instructions was found',
      actions: flagged,
      severe: { severity_min: 'high', where: 'result', action: 'block' },
    },
    { family: 'content', words: 'Content to review was found', actions: flagged },
    { family: 'hidden', words: 'Hidden text was found', actions: flagged },
  ];
}

function plainRule(row: Row, where: Where): Rule {
  return builtin(row, where, `builtin.${row.family}.${where}`, row.actions[where], null);
}

function severeRule(row: Row, { severity_min, where, action }: NonNullable<Row['severe']>): Rule {
  return builtin(row, where, `builtin.${row.family}.${where}.${severity_min}`, action, severity_min);
}

function builtin(row: Row, where: Where, name: string, action: Action, severity_min: Severity | null): Rule {
  const { boundary, phases } = PLACES[where];
  return {
    name,
    boundaries: [boundary],
    phases,
    data_tags: [row.family],
    action,
    tenant_id: null,
    tools: [],
    agents: [],
    session_tags: [],
    when: null,
    priority: 100,
    reason: `${row.words} ${WHERE_WORDS[where]}.`,
    severity_min,
    severity: null,
    fallback_template: null,
    enforcement: 'enforce',
    approval: DEFAULT_APPROVAL,
  };
}
