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
  /**
   * Stricter actions for findings from a severity on. `suffixed` says which of the two rules of a place has the longer
   * name: the stricter one, which ends in the severity, or the milder one, which ends in `weak`.
   */
  readonly severe?: {
    readonly severity_min: Severity;
    readonly actions: Partial<Readonly<Record<Where, Action>>>;
    readonly suffixed: 'severe' | 'mild';
  };
}

/**
 * Returns the built-in rules, which apply after the user's rules: one per family and place, named
 * `builtin.<family>.<place>`. Secrets are blocked or masked from `high` on; in output all are masked. Dangerous
 * commands are blocked in tool calls when they are `critical`; injections are blocked in tool results from `high` on.
 * Tags that are only declared have no severity and count as the worst.
 */
export function buildBuiltinRules(piiAction: Action): readonly Rule[] {
  const rules = listRows(piiAction).flatMap((row) =>
    (Object.keys(PLACES) as Where[]).flatMap((where) => getRules(row, where)),
  );
  return rules.flatMap((rule) =>
    rule.name === 'builtin.dangerous.action' ? [buildMarkerRule(rule), rule] : rule,
  );
}

/** Builds the rule whose reason says how to keep the value that a written marker replaces. */
function buildMarkerRule(rule: Rule): Rule {
  return {
    ...rule,
    name: `${rule.name}.redaction`,
    data_tags: ['dangerous.redaction'],
    reason:
      'A redaction marker was written in the place of a value, which is then lost. Keep the line as it is in the file, or restore it from version control.',
  };
}

function listRows(pii: Action): readonly Row[] {
  const flagged = { input: 'flag', action: 'flag', result: 'flag', output: 'flag' } as const;
  return [
    {
      family: 'secret',
      words: 'A secret was found',
      actions: { ...flagged, output: 'redact' },
      severe: {
        severity_min: 'high',
        actions: { input: 'block', action: 'block', result: 'redact' },
        suffixed: 'mild',
      },
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
      severe: { severity_min: 'critical', actions: { action: 'block' }, suffixed: 'severe' },
    },
    {
      family: 'injection',
      words: 'An attempt to inject instructions was found',
      actions: flagged,
      severe: { severity_min: 'high', actions: { result: 'block' }, suffixed: 'severe' },
    },
    { family: 'content', words: 'Content to review was found', actions: flagged },
    { family: 'hidden', words: 'Hidden text was found', actions: flagged },
  ];
}

/** Returns the rules of a family and place, the stricter one first. */
function getRules(row: Row, where: Where): readonly Rule[] {
  const name = `builtin.${row.family}.${where}`;
  const action = row.severe?.actions[where];
  if (row.severe === undefined || action === undefined)
    return [buildBuiltinRule(row, where, name, row.actions[where], null)];
  const { severity_min, suffixed } = row.severe;
  const names =
    suffixed === 'severe' ? ([`${name}.${severity_min}`, name] as const) : ([name, `${name}.weak`] as const);
  return [
    buildBuiltinRule(row, where, names[0], action, severity_min),
    buildBuiltinRule(row, where, names[1], row.actions[where], null),
  ];
}

function buildBuiltinRule(
  row: Row,
  where: Where,
  name: string,
  action: Action,
  severityMin: Severity | null,
): Rule {
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
    severity_min: severityMin,
    severity: null,
    fallback_template: null,
    enforcement: 'enforce',
    approval: DEFAULT_APPROVAL,
  };
}
