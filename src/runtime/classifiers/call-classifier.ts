import { PACKAGE_NAME } from '../../core/names.ts';
import type { Crossing } from '../../core/types/index.ts';
import { type HttpClient, HttpFailure, type HttpReply } from '../../platform/net/http-client.ts';
import { ANSWER_BYTES_MAX, parseClassifierAnswer } from './parse-classifier-answer.ts';
import type { ClassifierAnswer, ClassifierFailure, ClassifierSettings } from './types.ts';

/** The version of the request and the answer. */
const PROTOCOL_VERSION = 1;

/** The request to one classifier. */
export interface ClassifierRequest extends Pick<Crossing, 'boundary' | 'phase' | 'tool'> {
  readonly text: string;
  /** The length of the text in Unicode code points. */
  readonly points_count: number;
}

export interface ClassifierCallPorts {
  readonly client: Pick<HttpClient, 'call'>;
  /** The environment that holds the key. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Calls a classifier once. Never rejects. Nothing of the text or of the answer reaches a message. */
export async function callClassifier(
  settings: ClassifierSettings,
  { boundary, phase, tool, text, points_count }: ClassifierRequest,
  { client, env }: ClassifierCallPorts,
): Promise<ClassifierAnswer> {
  const key = readKey(settings, env);
  if (key === null) return buildFailedAnswer('no_key');
  const request = { version: PROTOCOL_VERSION, classifier: settings.name, boundary, phase, tool, text };
  const call = {
    method: 'POST',
    url: settings.url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': PACKAGE_NAME,
      ...(key !== '' && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(settings.timeout_ms),
    response_bytes_max: ANSWER_BYTES_MAX,
  } as const;
  const reply = await client.call(call).catch(classifyFault);
  if (typeof reply === 'string') return buildFailedAnswer(reply);
  if (reply.status !== 200) return buildFailedAnswer('refused');
  const findings = parseClassifierAnswer(reply.body, points_count);
  return findings === null ? buildFailedAnswer('invalid_answer') : { findings, failure: null };
}

function buildFailedAnswer(failure: ClassifierFailure): ClassifierAnswer {
  return { findings: null, failure };
}

/** Returns the key, an empty text for a classifier without one, or `null` if its variable holds no valid key. */
function readKey({ api_key_env }: ClassifierSettings, env: ClassifierCallPorts['env']): string | null {
  if (api_key_env === undefined) return '';
  const key = env[api_key_env]?.trim() ?? '';
  return /^[\x21-\x7e]{1,4096}$/.test(key) ? key : null;
}

function classifyFault(fault: unknown): ClassifierFailure | HttpReply {
  if (!(fault instanceof HttpFailure)) return 'unreachable';
  if (fault.kind === 'timeout') return 'timeout';
  return fault.kind === 'too_long' ? 'invalid_answer' : 'unreachable';
}
