import {
  ACTIONS,
  type Content,
  type JudgedFinding,
  type Tag,
  type TaintChange,
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
}: Verdict): boolean {
  const reported = findings.length + allowlisted_findings.length + monitored.length;
  return action === 'allow' && reported === 0 && taint_change === null;
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
  const enforced_result = verdicts.flatMap((each) => each.enforced_result ?? []);
  return {
    ...winner,
    findings: texts.flatMap(({ verdict }, at) => placed(verdict.findings, at)),
    allowlisted_findings: texts.flatMap(({ verdict }, at) => placed(verdict.allowlisted_findings, at)),
    violations: verdicts.flatMap(({ violations }) => violations),
    data_tags: union(verdicts.map(({ data_tags }) => data_tags)),
    content: winner.decision === 'modify' ? mergeContents(texts.map(changed)) : winner.content,
    coverage: verdicts.find(({ coverage }) => coverage.status === 'partial')?.coverage ?? winner.coverage,
    monitored: verdicts.flatMap(({ monitored }) => monitored),
    enforced_result:
      enforced_result.length === 0 ? null : enforced_result.reduce((a, b) => (isStricter(b, a) ? b : a)),
    taint_change: winner.decision === 'block' ? null : mergedChange(verdicts),
    fault: verdicts.some(({ fault }) => fault),
  };
}

function isStricter(one: Pick<Verdict, 'action'>, other: Pick<Verdict, 'action'>): boolean {
  return ACTIONS.indexOf(one.action) > ACTIONS.indexOf(other.action);
}

function placed<Found extends Pick<JudgedFinding, 'leaf' | 'path'>>(
  findings: readonly Found[],
  at: number,
): Found[] {
  return findings.map((finding) => ({ ...finding, leaf: at, path: `$[${at}]` }));
}

function changed({ text, verdict }: JudgedText): JudgedText {
  return { text: verdict.content?.kind === 'text' ? verdict.content.text : text, verdict };
}

function mergedChange(verdicts: readonly Verdict[]): TaintChange | null {
  const changes = verdicts.flatMap(({ taint_change }) => taint_change ?? []);
  if (changes.length === 0) return null;
  const is_reset = changes.some(({ remove }) => remove === 'all');
  const gone = changes.map(({ remove }) => (remove === 'all' ? [] : remove));
  return { add: union(changes.map(({ add }) => add)), remove: is_reset ? 'all' : union(gone) };
}

function union(lists: readonly (readonly Tag[])[]): Tag[] {
  return [...new Set(lists.flat())].sort();
}
