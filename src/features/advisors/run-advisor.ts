import { filterSentence } from '../../core/advisors/data-filter.ts';
import type { Advisor, AdvisorReading, AdvisorResult, ArtifactFile } from '../../core/advisors/types.ts';
import {
  type ModelAnswer,
  type ModelBackend,
  ModelFailure,
  type ModelMessage,
} from '../../operations/model-backend.ts';
import type { ArtifactCheck } from './check-artifacts.ts';

/** One call of an advisor. */
export interface AdvisorCall<Input> {
  readonly advisor: Advisor<Input>;
  readonly input: Input;
  /** Examines proposed files before a person sees them; absent for an advisor without files. */
  readonly check?: (files: readonly ArtifactFile[], signal: AbortSignal) => Promise<ArtifactCheck>;
  /** Data for the result that the model did not give. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The surroundings of a call. */
export interface AdvisorCallPorts {
  readonly backend: () => Promise<ModelBackend>;
  /** The configured name of the model, for a result without an answer. */
  readonly model: string;
  readonly signal: AbortSignal;
  /** Receives each step, for people who wait. */
  readonly onProgress?: (step: AdvisorStep) => void;
}

export type AdvisorStep = 'asking' | 'checking' | 'asking_again';

/** The tokens of a call, as far as the backend counts them. */
export interface TokenUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The result of a call, and what it used. */
export interface AdvisorOutcome {
  readonly result: AdvisorResult;
  readonly usage: TokenUsage;
  /** The reason of a result that is not a success: the code of a `ModelFailure`, or `answer_unusable`. */
  readonly failure: string | null;
}

/**
 * Asks the model, reads the answer and examines its files. An answer that cannot be used is sent back once, with its
 * problems. Never rejects for a failure of the model: that is a result with the status `error` or `no_backend`.
 */
export async function runAdvisor<Input>(
  call: AdvisorCall<Input>,
  ports: AdvisorCallPorts,
): Promise<AdvisorOutcome> {
  const usage = { input_tokens: 0, output_tokens: 0 };
  try {
    return await runConversation(call, ports, usage);
  } catch (fault) {
    // A check that the caller stopped fails in its own way.
    const failure = ports.signal.aborted ? new ModelFailure('aborted', 'Stopped.') : fault;
    if (!(failure instanceof ModelFailure)) throw failure;
    const { code, message } = failure;
    const status = code === 'no_backend' ? 'no_backend' : 'error';
    return { result: buildFailedResult(call, ports.model, status, message), usage, failure: code };
  }
}

/** One answer with everything that was found in it. */
interface ReviewedAnswer {
  readonly answer: ModelAnswer;
  readonly reading: AdvisorReading;
  readonly check: ArtifactCheck | null;
  readonly problems: readonly string[];
}

async function runConversation<Input>(
  call: AdvisorCall<Input>,
  ports: AdvisorCallPorts,
  usage: { -readonly [Key in keyof TokenUsage]: number },
): Promise<AdvisorOutcome> {
  const { system, user } = call.advisor.brief(call.input);
  const messages: ModelMessage[] = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
  const backend = await ports.backend();
  const ask = async (step: AdvisorStep): Promise<ReviewedAnswer> => {
    ports.onProgress?.(step);
    const answer = await backend.ask(messages, ports.signal);
    usage.input_tokens += answer.input_tokens ?? 0;
    usage.output_tokens += answer.output_tokens ?? 0;
    if (call.check !== undefined) ports.onProgress?.('checking');
    return reviewAnswer(answer, call, ports.signal);
  };
  let reviewed = await ask('asking');
  let attempts = 1;
  if (reviewed.problems.length > 0) {
    messages.push({ role: 'assistant', content: reviewed.answer.text });
    messages.push({ role: 'user', content: buildCorrection(reviewed.problems, call) });
    reviewed = await ask('asking_again');
    attempts = 2;
  }
  return { result: buildResult(reviewed, attempts, call), usage, failure: getFailure(reviewed) };
}

async function reviewAnswer<Input>(
  answer: ModelAnswer,
  call: AdvisorCall<Input>,
  signal: AbortSignal,
): Promise<ReviewedAnswer> {
  const reading = call.advisor.read(answer.text, call.input);
  if (reading.problems.length > 0 || reading.artifacts.length === 0 || call.check === undefined)
    return { answer, reading, check: null, problems: reading.problems };
  const check = await call.check(reading.artifacts, signal);
  return { answer, reading, check, problems: check.problems };
}

const PROBLEMS_MAX = 20;
const PROBLEM_UNITS_MAX = 500;

/** Problems may quote names of callers and of the policy, which are filtered as in the first prompt. */
function buildCorrection<Input>(problems: readonly string[], { advisor, input }: AdvisorCall<Input>): string {
  const lines = problems.slice(0, PROBLEMS_MAX).map((problem) => {
    const hidden = advisor.hideNames?.(problem, input) ?? problem;
    return `- ${filterSentence(hidden, PROBLEM_UNITS_MAX)}`;
  });
  return `Your answer cannot be used:\n${lines.join('\n')}\nWrite the whole answer again, in the same format, without these problems.`;
}

function getFailure({ problems }: ReviewedAnswer): string | null {
  return problems.length === 0 ? null : 'answer_unusable';
}

function buildResult<Input>(
  { answer, reading, check, problems }: ReviewedAnswer,
  attempts: number,
  { advisor, metadata }: AdvisorCall<Input>,
): AdvisorResult {
  const shared = {
    advisor_name: advisor.name,
    raw_response: answer.text,
    model_used: answer.model,
    metadata: {
      ...metadata,
      ...reading.metadata,
      attempts,
      ...(check !== null && problems.length === 0 && { review: check.review }),
      ...(check?.syntax !== undefined && { syntax: check.syntax }),
      ...(problems.length > 0 && { problems: problems.slice(0, PROBLEMS_MAX) }),
    },
  };
  if (problems.length > 0)
    return {
      ...shared,
      status: 'error',
      summary:
        `The model's answer cannot be used, also after it was sent back once. ${problems[0] ?? ''}`.trim(),
      artifacts: {},
    };
  const artifacts = Object.fromEntries(reading.artifacts.map(({ path, text }) => [path, text]));
  return { ...shared, status: 'success', summary: reading.summary, artifacts };
}

function buildFailedResult<Input>(
  { advisor, metadata }: AdvisorCall<Input>,
  model: string,
  status: 'error' | 'no_backend',
  summary: string,
): AdvisorResult {
  return {
    advisor_name: advisor.name,
    status,
    summary,
    artifacts: {},
    raw_response: '',
    model_used: model,
    metadata: { ...metadata },
  };
}
