/**
 * The core for a bare V8 inside another program, such as a Python process: no Node, no DOM, texts in and texts out.
 * The build makes one script of it, which defines `customshouse`.
 */
import './bare-globals.ts';
import { createContent } from '../core/json/source.ts';
import { findValueMemberSource, parseJson, writeExactJson } from '../core/json/value-source.ts';
import type { Content, JsonObject } from '../core/types/index.ts';
import type { CheckBody } from './backend.ts';
import { CustomshouseError, PolicyLoadError } from './errors.ts';
import { compilePolicySource, type PolicySource } from './local/compile-source.ts';
import { createFingerprinter } from './local/index.ts';
import {
  checkLocally,
  createLocalState,
  type LocalState,
  openLocalSteps,
  type StreamSteps,
} from './local/local-backend.ts';
import type { GuardOperation, StreamPiece } from './types.ts';
import { parseYamlText } from './yaml-text.ts';

declare const EMBEDDED_VERSION: string | undefined;

const OPERATIONS: readonly string[] = [
  'scan_input',
  'scan_structured',
  'guard_output',
  'intercept_tool',
  'intercept_agent_message',
];

/** The record of the decision that is being made. There is one thread. */
let recorded = '';
/** The id of the event of the decision that is being made. */
let eventId = '';
const states: LocalState[] = [];

/**
 * Compiles a policy from the JSON text of a `PolicySource`. Returns JSON: `ok` with the number of the policy for `check`
 * and its hash, or `problems` with one sentence for each mistake.
 */
function compile(text: string): string {
  try {
    const { policy, settings } = compilePolicySource(JSON.parse(text) as PolicySource);
    const { fingerprint_key } = settings.detection;
    const state = createLocalState({
      policy,
      sink: {
        write: (record) => {
          recorded = JSON.stringify(record);
        },
        close: async () => {},
      },
      fingerprintOf: fingerprint_key === undefined ? null : createFingerprinter(fingerprint_key),
      log_actions: settings.log_actions,
      now_ms: Date.now,
      createEventId: () => eventId,
    });
    states.push(state);
    return JSON.stringify({ ok: { policy: states.length - 1, hash: policy.hash } });
  } catch (error) {
    const problems = error instanceof PolicyLoadError ? error.problems : ['The policy cannot be compiled.'];
    return JSON.stringify({ problems });
  }
}

/** Parses a YAML text. Returns JSON: `ok` with the values of its documents, or `error` with a sentence. */
function parseYaml(text: string): string {
  try {
    return JSON.stringify({ ok: parseYamlText(text) });
  } catch (error) {
    return describeError(error);
  }
}

/**
 * Decides on a request. Returns two lines: the verdict as JSON, and the audit record as JSON, which is empty if nothing
 * was judged.
 *
 * @param index - the number from `compile`
 * @param operation - a name of `OPERATIONS`
 * @param body - the JSON text of the body, as over HTTP
 * @param id - the id of the audit event
 */
function check(index: number, operation: string, body: string, id: string): string {
  try {
    const state = states[index]!;
    if (!OPERATIONS.includes(operation)) throw new CustomshouseError(`\`${operation}\` needs a service.`);
    recorded = '';
    eventId = id;
    const json = parseJson(body);
    const parsed = json as CheckBody;
    const content = readContent(json as JsonObject, operation, state);
    const verdict = checkLocally(state, operation as GuardOperation, parsed, content);
    return `${writeExactJson(verdict)}\n${recorded}`;
  } catch (error) {
    return describeError(error);
  }
}

/** Maximum number of JSON values in a body in addition to the content that is judged. */
const NODES_AROUND = 5_000;

/** Returns the JSON value of a body with its original text, so that its numbers keep their digits; else `null`. */
function readContent(body: JsonObject, operation: string, { policy }: LocalState): Content | null {
  const isTool = operation === 'intercept_tool';
  if (!isTool && operation !== 'scan_structured') return null;
  const member = !isTool ? 'payload' : body.phase === 'response' ? 'output' : 'input';
  const value = body[member];
  if (typeof value !== 'object' || value === null) return null;
  const { depth_max, nodes_max } = policy.limits;
  const around = { depth_max: depth_max + 1, nodes_max: nodes_max + NODES_AROUND };
  return createContent(value, findValueMemberSource(body, member, around));
}

const streams = new Map<number, StreamSteps>();
let streamsOpened = 0;

/** Opens a guarded stream. Returns its number for `pushStream`, or an `error` line. The arguments are those of `check`. */
function openStream(index: number, operation: string, body: string): string {
  try {
    const boundary = operation === 'scan_input' ? 'input' : 'output';
    const steps = openLocalSteps(states[index]!, boundary, JSON.parse(body) as CheckBody);
    streamsOpened += 1;
    streams.set(streamsOpened, steps);
    return String(streamsOpened);
  } catch (error) {
    return describeError(error);
  }
}

/** Takes the next piece of a stream as a JSON string. Returns one line, or three when a block ends the stream. */
function pushStream(number: number, piece: string, id: string): string {
  return takeStream(number, id, (steps) => steps.push(JSON.parse(piece) as string));
}

/**
 * Ends a stream. Returns three lines: the text that may be shown as a JSON string, the verdict as JSON, and the audit
 * record as JSON.
 */
function endStream(number: number, id: string): string {
  return takeStream(number, id, (steps) => steps.end());
}

function takeStream(number: number, id: string, work: (steps: StreamSteps) => StreamPiece): string {
  try {
    recorded = '';
    eventId = id;
    const { text, verdict } = work(streams.get(number)!);
    if (verdict === null) return JSON.stringify(text);
    streams.delete(number);
    return `${JSON.stringify(text)}\n${JSON.stringify(verdict)}\n${recorded}`;
  } catch (error) {
    streams.delete(number);
    return describeError(error);
  }
}

/** Forgets a stream that was not ended. */
function closeStream(number: number): string {
  return String(streams.delete(number));
}

/** Returns an `error` line. The message of a parser may quote the text, so only our own messages are passed on. */
function describeError(error: unknown): string {
  const message = error instanceof CustomshouseError ? error.message : 'The request cannot be judged.';
  return JSON.stringify({ error: message });
}

/** Returns the version of the package that this bundle belongs to. */
function getVersion(): string {
  return typeof EMBEDDED_VERSION === 'undefined' ? '' : EMBEDDED_VERSION;
}

Object.assign(globalThis, {
  customshouse: {
    check,
    closeStream,
    compile,
    endStream,
    openStream,
    parseYaml,
    pushStream,
    version: getVersion,
  },
});
