import { getViolationType } from '../../core/detect/detect.ts';
import { convertFromCodePoints, countCodePoints } from '../../core/text/offsets.ts';
import type { Classification, Coverage, Crossing, Finding, JudgedFinding } from '../../core/types/index.ts';
import { type HttpClient, openHttpClient } from '../../platform/net/http-client.ts';
import { isLoopbackHost } from '../../platform/net/loopback.ts';
import { appliesTo } from './applies-to.ts';
import { callClassifier } from './call-classifier.ts';
import { buildContentText, type ContentText, findContentPlace, findLeafPaths } from './content-text.ts';
import type {
  ClassifierAnswer,
  ClassifierFailure,
  ClassifierFinding,
  ClassifierSettings,
  Classifiers,
  CountClassifierCall,
} from './types.ts';

export interface ClassifiersParts {
  readonly settings: readonly ClassifierSettings[];
  /** The environment that holds the keys, and the proxy for hosts other than this one. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly count: CountClassifierCall;
  /** Receives each failure. Must not throw. */
  readonly onFailure: (classifier: string, failure: ClassifierFailure) => void;
}

/** The running calls of one process to one classifier. A call beyond them fails at once. */
const RUNNING_MAX = 128;

/** Opens the classifiers of one process. */
export function openClassifiers(
  parts: ClassifiersParts,
): Pick<Classifiers, 'classify'> & { readonly close: () => Promise<void> } {
  const opened = parts.settings.map((settings) => openClassifier(settings, parts));
  return {
    classify: async (crossing, found) => {
      const contentText = buildContentText(crossing.content);
      if (contentText.text.trim() === '') return NOTHING;
      const called = opened.filter(({ settings }) => appliesTo(settings, crossing));
      const answers = await Promise.all(
        called.map(async ({ settings, call }) => ({ settings, answer: await call(crossing, contentText) })),
      );
      return buildClassification(answers, contentText, crossing, found);
    },
    close: async () => {
      await Promise.all(opened.map(({ close }) => close()));
    },
  };
}

const NOTHING: Classification = { findings: [], coverage: { status: 'full' }, failed: [] };

interface OpenClassifier {
  readonly settings: ClassifierSettings;
  /** Calls the classifier within its deadline and counts the call. Never rejects. */
  readonly call: (crossing: Crossing, contentText: ContentText) => Promise<ClassifierAnswer>;
  readonly close: () => Promise<void>;
}

function openClassifier(
  settings: ClassifierSettings,
  { env, count, onFailure }: ClassifiersParts,
): OpenClassifier {
  const client = openClassifierClient(settings, env);
  let running = 0;
  const callOnce = async (crossing: Crossing, { text }: ContentText): Promise<ClassifierAnswer> => {
    if (Buffer.byteLength(text) > settings.text_bytes_max)
      return { findings: null, failure: 'text_too_long' };
    if (running >= RUNNING_MAX) return { findings: null, failure: 'busy' };
    running += 1;
    const { boundary, phase, tool } = crossing;
    const request = { boundary, phase, tool, text, points_count: countCodePoints(text) };
    return callClassifier(settings, request, { client, env }).finally(() => {
      running -= 1;
    });
  };
  return {
    settings,
    call: async (crossing, contentText) => {
      const beganMs = performance.now();
      const answer = await callOnce(crossing, contentText);
      const { failure } = answer;
      count(settings.name, failure ?? 'answered', (performance.now() - beganMs) / 1_000);
      if (failure !== null) onFailure(settings.name, failure);
      return answer;
    },
    close: client.close,
  };
}

/** Opens the client of a classifier. The text for one on this machine goes through no proxy. */
export function openClassifierClient(
  { url }: Pick<ClassifierSettings, 'url'>,
  env: ClassifiersParts['env'],
): HttpClient {
  return openHttpClient({ env: isLoopbackHost(new URL(url).hostname) ? {} : env });
}

interface AnsweredClassifier {
  readonly settings: ClassifierSettings;
  readonly answer: ClassifierAnswer;
}

function buildClassification(
  answers: readonly AnsweredClassifier[],
  contentText: ContentText,
  { content }: Crossing,
  found: readonly JudgedFinding[],
): Classification {
  const findings = answers.flatMap(({ settings, answer }) =>
    answer.findings === null ? [] : buildFindings(settings, answer.findings, contentText),
  );
  const failed = answers.filter(({ answer }) => answer.failure !== null);
  const leaves = new Set(findings.filter(({ is_whole }) => is_whole !== true).map(({ leaf }) => leaf));
  const paths = findLeafPaths(content, leaves, found);
  return {
    findings: findings.map((finding) =>
      finding.is_whole === true ? finding : { ...finding, path: paths.get(finding.leaf) ?? null },
    ),
    coverage: getCoverage(failed, contentText),
    failed: failed.map(({ settings }) => settings.name),
  };
}

/** Returns partial coverage, which blocks, if a classifier failed without which nothing may pass. */
function getCoverage(failed: readonly AnsweredClassifier[], { text }: ContentText): Coverage {
  const blocking = failed.find(({ settings }) => settings.on_failure === 'block');
  if (blocking === undefined) return { status: 'full' };
  const { name } = blocking.settings;
  const why = REASONS[blocking.answer.failure!];
  const reason = `The classifier \`${name}\` ${why}, and its \`on_failure\` is \`block\`.`;
  return { status: 'partial', reason, bytes: Buffer.byteLength(text) };
}

/** The failures as predicates of a sentence. */
export const REASONS: Readonly<Record<ClassifierFailure, string>> = {
  busy: 'has too many running calls',
  invalid_answer: 'gave an invalid answer',
  no_key: 'has no valid key in the variable that its `api_key_env` names',
  refused: 'answered with another status than 200',
  text_too_long: 'accepts no text that is longer than its `text_bytes_max`',
  timeout: 'did not answer within its `timeout_ms`',
  unreachable: 'could not be reached',
};

/** Builds the findings of known labels whose score is high enough. All others are dropped. */
function buildFindings(
  { name, labels }: ClassifierSettings,
  answered: readonly ClassifierFinding[],
  contentText: ContentText,
): Finding[] {
  const counted = answered.filter(
    ({ label, score }) => Object.hasOwn(labels, label) && score >= labels[label]!.score_min,
  );
  const places = counted.flatMap(({ place }) => (place === null ? [] : [place.start, place.end]));
  const units = convertFromCodePoints(contentText.text, places);
  let at = 0;
  return counted.map(({ label, place }) => {
    const { tag, severity } = labels[label]!;
    const about = {
      rule_id: `classifier.${name}.${label}`,
      detector: 'classifier',
      type: getViolationType(tag),
      severity,
      tags: [tag],
      path: null,
      source: 'classifier',
    } as const;
    const range = place === null ? null : findContentPlace(contentText, units[at++]!, units[at++]!);
    return range === null ? { ...about, leaf: 0, start: 0, end: 0, is_whole: true } : { ...about, ...range };
  });
}
