import { isDetected } from '../decision/classifier-findings.ts';
import {
  ACTIONS,
  type Content,
  type JudgedFinding,
  type Tag,
  type TaintChange,
  type ValuesChange,
  type Verdict,
} from '../types/index.ts';

/** One of several texts that cross a boundary as one, and the verdict on it. */
export interface JudgedText {
  readonly text: string;
  readonly verdict: Verdict;
}

/** Returns whether a verdict allows a text unchanged and reports nothing about it. */
export function isUntouched({
  action,
  findings,
  allowlisted_findings,
  monitored,
  taint_change,
  values_change,
}: Verdict): boolean {
  const reported = findings.length + allowlisted_findings.length + monitored.length;
  return action === 'allow' && reported === 0 && taint_change === null && values_change === null;
}

/** Returns the content of several texts that cross together: the text itself if there is one, else a list. */
export function mergeContents(texts: readonly JudgedText[]): Content {
  const [first] = texts;
  if (texts.length <= 1) return { kind: 'text', text: first?.text ?? '' };
  return { kind: 'json', value: texts.map(({ text }) => text) };
}

/**
 * Merges the verdicts on texts that were judged separately; there must be at least one. The strictest verdict
 * decides, and the findings of all are included. Findings are placed as in the content that `mergeContents`
 * returns.
 */
export function mergeVerdicts(texts: readonly JudgedText[]): Verdict {
  const verdicts = texts.map(({ verdict }) => verdict);
  const [only] = verdicts;
  if (only !== undefined && verdicts.length === 1) return only;
  const winner = verdicts.reduce((one, other) => (isStricter(other, one) ? other : one));
  return {
    ...winner,
    findings: texts.flatMap(({ verdict }, at) => placeFindings(verdict.findings, at)),
    allowlisted_findings: texts.flatMap(({ verdict }, at) => placeFindings(verdict.allowlisted_findings, at)),
    violations: verdicts.flatMap(({ violations }) => violations),
    data_tags: mergeTags(verdicts.map(({ data_tags }) => data_tags)),
    content: winner.decision === 'modify' ? mergeContents(texts.map(applyVerdict)) : winner.content,
    coverage: verdicts.find(({ coverage }) => coverage.status === 'partial')?.coverage ?? winner.coverage,
    monitored: verdicts.flatMap(({ monitored }) => monitored),
    enforced_result: findStrictest(verdicts),
    taint_change: winner.decision === 'block' ? null : mergeTaintChanges(verdicts),
    values_change: winner.decision === 'block' ? null : mergeValuesChanges(verdicts),
    fault: verdicts.some(({ fault }) => fault),
  };
}

/**
 * Merges the verdict on the texts of a stream with that on their whole content, in which only the findings of
 * classifiers are new. The result is never milder than the verdict on the stream. A finding whose rule masks it blocks,
 * because the texts are complete and no longer changed.
 */
export function mergeClassified(judged: Verdict, whole: Verdict): Verdict {
  const added = whole.findings.filter(isClassified);
  const masked = added.find(({ action }) => action === 'redact');
  const common = {
    ...judged,
    findings: [...judged.findings, ...added],
    allowlisted_findings: [
      ...judged.allowlisted_findings,
      ...whole.allowlisted_findings.filter(isClassified),
    ],
    data_tags: mergeTags([judged.data_tags, ...added.map(({ tags }) => tags)]),
    monitored: mergeMonitored(judged.monitored, whole.monitored),
    enforced_result: findStrictest([judged, whole]),
    fault: judged.fault || whole.fault,
  };
  const { rule, action, reason, coverage, violations } = whole;
  if (whole.decision === 'block') return { ...common, ...BLOCKED, rule, reason, coverage, violations };
  if (masked !== undefined) return { ...common, ...BLOCKED, rule: masked.rule, reason: STREAMED };
  const passed = {
    ...common,
    taint_change: mergeTaintChanges([judged, whole]),
    values_change: mergeValuesChanges([judged, whole]),
  };
  return judged.action === 'allow' && action === 'flag' ? { ...passed, action, rule, reason } : passed;
}

const STREAMED = 'A rule redacts what a classifier found, and a streamed text is complete by then.';

/** The members of a block without a replacement. */
const BLOCKED = {
  decision: 'block',
  action: 'block',
  content: null,
  stripped_fields: [],
  removed: [],
  fallback_used: false,
  approval: null,
  taint_change: null,
  values_change: null,
} as const;

function isClassified(finding: Pick<JudgedFinding, 'source'>): boolean {
  return !isDetected(finding);
}

/** Returns the strictest result of the rules in monitor mode; `null` if none would have acted. */
function findStrictest(verdicts: readonly Verdict[]): Verdict['enforced_result'] {
  const results = verdicts.flatMap(({ enforced_result }) => enforced_result ?? []);
  return results.length === 0 ? null : results.reduce((a, b) => (isStricter(b, a) ? b : a));
}

/** Returns the rules in monitor mode of both verdicts, without those of the second one that the first one has. */
function mergeMonitored(judged: Verdict['monitored'], whole: Verdict['monitored']): Verdict['monitored'] {
  const added = whole.filter(
    ({ rule, action, tag }) =>
      !judged.some((each) => each.rule === rule && each.action === action && each.tag === tag),
  );
  return [...judged, ...added];
}

function isStricter(one: Pick<Verdict, 'action'>, other: Pick<Verdict, 'action'>): boolean {
  return ACTIONS.indexOf(one.action) > ACTIONS.indexOf(other.action);
}

function placeFindings<Found extends Pick<JudgedFinding, 'leaf' | 'path'>>(
  findings: readonly Found[],
  at: number,
): Found[] {
  return findings.map((finding) => ({ ...finding, leaf: at, path: `$[${at}]` }));
}

function applyVerdict({ text, verdict }: JudgedText): JudgedText {
  return { text: verdict.content?.kind === 'text' ? verdict.content.text : text, verdict };
}

function mergeTaintChanges(verdicts: readonly Verdict[]): TaintChange | null {
  const changes = verdicts.flatMap(({ taint_change }) => taint_change ?? []);
  if (changes.length === 0) return null;
  const isReset = changes.some(({ remove }) => remove === 'all');
  const gone = changes.map(({ remove }) => (remove === 'all' ? [] : remove));
  return { add: mergeTags(changes.map(({ add }) => add)), remove: isReset ? 'all' : mergeTags(gone) };
}

function mergeValuesChanges(verdicts: readonly Verdict[]): ValuesChange | null {
  const changes = verdicts.flatMap(({ values_change }) => values_change ?? []);
  if (changes.length === 0) return null;
  const add = new Map(
    changes.flatMap((change) => change.add.map((entry) => [`${entry.hash} ${entry.label}`, entry] as const)),
  );
  return { add: [...add.values()], end: mergeTags(changes.map(({ end }) => end)) };
}

function mergeTags(lists: readonly (readonly Tag[])[]): Tag[] {
  return [...new Set(lists.flat())].sort();
}
