import { isFlowRule } from '../../core/decision/rules.ts';
import type { Rule, ToolContract, Verdict } from '../../core/types/index.ts';
import type { AskingRules } from './asking-rules.ts';
import type { NamedCall } from './call-arguments.ts';
import type { GrantScope } from './scope-names.ts';

/** The arguments that a grant binds, and the scopes that fit the rules that asked. */
export interface BoundArguments {
  /** Arguments that must have the same values. */
  readonly bound: readonly string[];
  /** Arguments that may have other values, or be missing. */
  readonly free: readonly string[];
  /** The contract checks each argument that is neither bound nor free, so it may differ. Else such a call asks again. */
  readonly permits_others: boolean;
  /** The narrowest first. */
  readonly scopes: readonly GrantScope[];
}

/**
 * Arguments that hold words for people. They are free unless a rule asked about them. No such name takes a command, an
 * address, or a file’s content.
 */
export const FREE_TEXT_ARGUMENTS: readonly string[] = [
  'body',
  'comment',
  'description',
  'message',
  'note',
  'reason',
  'subject',
  'summary',
  'title',
];

/** Finds what a grant for a call binds. Returns `null` if no grant can be proposed. */
export function findBoundArguments(
  call: NamedCall,
  asking: AskingRules,
  judged: Pick<Verdict, 'findings'>,
): BoundArguments | null {
  const { rules, origin_rules, contract } = asking;
  const isAboutOriginsAlone = rules.length === 0 && origin_rules.length > 0 && !asksForEachCall(asking);
  return isAboutOriginsAlone && contract?.flow !== undefined
    ? bindOrigins(call, origin_rules, contract)
    : bindAll(call, asking, judged);
}

/** Returns whether the contract requires approval for each call, whatever its arguments are. */
function asksForEachCall({ contract }: AskingRules): boolean {
  return contract?.side_effects.requires_approval === true;
}

const ARGUMENT_RULE = 'flow.arguments.';

/** Binds the arguments whose origin was not accepted. The contract checks the origins of all others in each call. */
function bindOrigins(
  { arguments: given }: NamedCall,
  rules: readonly string[],
  { flow }: ToolContract,
): BoundArguments | null {
  const names = Object.keys(given);
  const declared = Object.keys(flow?.arguments ?? {});
  const scopes = ['session', 'agent'] as const;
  // Without a word that asks for the act, the act itself is what is approved.
  if (rules.includes('flow.intent')) return { bound: names, free: [], permits_others: false, scopes };
  const asksAboutOthers = rules.includes('flow.others');
  const named = rules.flatMap((rule) =>
    rule.startsWith(ARGUMENT_RULE) ? [rule.slice(ARGUMENT_RULE.length)] : [],
  );
  // A missing argument has no value that could be bound.
  if (!named.every((name) => Object.hasOwn(given, name))) return null;
  const others = asksAboutOthers ? names.filter((name) => !declared.includes(name)) : [];
  const bound = [...named, ...others];
  return {
    bound,
    free: declared.filter((name) => !bound.includes(name)),
    permits_others: !asksAboutOthers,
    scopes,
  };
}

/** Binds all arguments but words for people. */
function bindAll(call: NamedCall, asking: AskingRules, judged: Pick<Verdict, 'findings'>): BoundArguments {
  const { rules, origin_rules, contract } = asking;
  const names = Object.keys(call.arguments);
  const asked = origin_rules.length > 0 ? null : listAskedArguments(rules, judged);
  const isFree = (name: string): boolean =>
    asked !== null && !asked.includes(name) && isFreeText(name, call, contract);
  const free = names.filter(isFree);
  const isAboutSession = rules.some(isFlowRule);
  const isAboutTool =
    rules.every((rule) => rule.data_tags.length === 0 && rule.when === null && !isFlowRule(rule)) &&
    rules.length > 0 &&
    origin_rules.length === 0 &&
    contract?.flow === undefined &&
    !asksForEachCall(asking);
  return {
    bound: names.filter((name) => !free.includes(name)),
    free,
    permits_others: false,
    scopes: [
      'session',
      ...(isAboutSession ? [] : (['agent'] as const)),
      ...(isAboutTool ? (['any_arguments'] as const) : []),
    ],
  };
}

/** Returns the arguments that rules of the policy asked about; `null` if that is the whole call. */
function listAskedArguments(
  rules: readonly Rule[],
  { findings }: Pick<Verdict, 'findings'>,
): readonly string[] | null {
  const asked: string[] = [];
  for (const rule of rules) {
    if (isFlowRule(rule) || (rule.when !== null && rule.reads === undefined)) return null;
    for (const path of rule.reads?.arguments ?? []) {
      // The empty path reads all arguments.
      if (path === '') return null;
      asked.push(/^[^.[]*/.exec(path)![0]);
    }
    if (rule.data_tags.length === 0) continue;
    const paths = findings.flatMap((each) => (each.rule === rule.name ? [each.path] : []));
    const places = paths.map((path) => (path === null ? null : (/^\$\.([^.[]+)/.exec(path)?.[1] ?? null)));
    // A tag without a place is about all that the call holds.
    if (places.length === 0 || places.includes(null)) return null;
    asked.push(...places.filter((name) => name !== null));
  }
  return asked;
}

function isFreeText(name: string, { arguments: given }: NamedCall, contract: ToolContract | null): boolean {
  if (typeof given[name] !== 'string') return false;
  const flow = contract?.flow?.arguments ?? {};
  if (Object.hasOwn(flow, name)) return flow[name]!.any_of.includes('any');
  return FREE_TEXT_ARGUMENTS.includes(name);
}
