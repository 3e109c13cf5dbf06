import { isDeepStrictEqual } from 'node:util';
import type { DocumentProblem, Json } from '../../core/types/index.ts';
import type { PathStep } from '../config/problem-path.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { type PayloadResult, readEventName, readPayloadChecks } from './read-payload.ts';
import { hasPlace } from './template.ts';
import type {
  AdapterProtocol,
  AdapterTemplate,
  CheckSpec,
  DialectReply,
  ExampleSpec,
  FoundCheck,
} from './types.ts';

/** The replies of a dialect or an adapter. */
interface Way<Reply> {
  /** `dialects` reply to coding agents, `adapters` with HTTP bodies. */
  readonly kind: 'dialects' | 'adapters';
  /** The reply that lets the event proceed. */
  readonly pass: Reply;
  /** Returns whether a reply has no effect on the coding agent or HTTP client. */
  readonly isSilent: (reply: Reply) => boolean;
}

/** Returns the problems of a dialect beyond its shape. Runs its examples. */
export function findDialectProblems(
  written: AdapterProtocol<DialectReply> & { readonly pass?: DialectReply },
  from: string,
  steps: readonly PathStep[],
): DocumentProblem[] {
  const isSilent = ({ stdout = '', code = 0 }: DialectReply) => stdout === '' && code !== 2;
  return findProtocolProblems(written, { kind: 'dialects', pass: written.pass ?? {}, isSilent }, from, steps);
}

/** Returns the problems of an HTTP adapter beyond its shape. Runs its examples. */
export function findAdapterProblems(
  written: AdapterProtocol<AdapterTemplate> & { readonly pass: AdapterTemplate },
  from: string,
  steps: readonly PathStep[],
): DocumentProblem[] {
  return findProtocolProblems(
    written,
    { kind: 'adapters', pass: written.pass, isSilent: () => false },
    from,
    steps,
  );
}

function findProtocolProblems<Reply>(
  written: AdapterProtocol<Reply>,
  way: Way<Reply>,
  from: string,
  steps: readonly PathStep[],
): DocumentProblem[] {
  const wrong = (inner: readonly PathStep[], what: string) =>
    buildConfigProblem(from, [...steps, ...inner], what);
  const ofEvents = Object.entries(written.events).flatMap(([name, { checks, deny, ask, change }]) => {
    const at = ['events', name];
    const letsPass = [way.pass, ask, change].some((other) => isDeepStrictEqual(other, deny));
    const reported = letsPass || way.isSilent(deny);
    return [
      ...(reported
        ? [wrong([...at, 'deny'], 'blocks nothing: it is an answer that allows the event, or an empty one')]
        : []),
      ...(change !== undefined && !hasPlace(change as Json, 'changed')
        ? [wrong([...at, 'change'], 'gives nothing in place of what was changed: `{changed}` is missing')]
        : []),
      ...checks.flatMap((check, i) =>
        checkProblem(check, way.kind).map((what) => wrong([...at, 'checks', i], what)),
      ),
    ];
  });
  const eventsTried = new Set<string>();
  const ofExamples = written.examples.flatMap((example, i) => {
    const tried = tryExample(written, example);
    if (tried.event !== null) eventsTried.add(tried.event);
    return tried.what === null ? [] : [wrong(['examples', i], tried.what)];
  });
  const doubled = (written.ignored_events ?? []).flatMap((name, i) =>
    Object.hasOwn(written.events, name) ? [wrong(['ignored_events', i], 'is an event that is decided')] : [],
  );
  const untried = Object.keys(written.events).filter((name) => !eventsTried.has(name));
  return [
    ...ofEvents,
    ...ofExamples,
    ...doubled,
    ...untried.map((name) => wrong(['events', name], 'has no example')),
  ];
}

function checkProblem({ kind, tool, content, json }: CheckSpec, way: Way<unknown>['kind']): string[] {
  const hasTool = kind === 'call' || kind === 'result';
  return [
    ...(hasTool && tool === undefined ? ['names no `tool`'] : []),
    ...(!hasTool && tool !== undefined ? [`has a \`tool\`, which a ${kind} has not`] : []),
    ...(kind === 'answer' && way === 'dialects' ? ['is of a kind that hooks do not judge: `answer`'] : []),
    ...(kind === 'prompt' && way === 'dialects' && (json === true || typeof content !== 'string')
      ? ['is a prompt, and its content is no text']
      : []),
  ];
}

/** Returns the differences between an example and its result, and the event of the example. */
function tryExample(
  written: AdapterProtocol<unknown>,
  { payload, event: request, checks }: ExampleSpec,
): { readonly event: string | null; readonly what: string | null } {
  const event = readEventName(written, payload, request ?? null);
  if (!event.ok) return { event: null, what: event.why };
  if ((written.ignored_events ?? []).includes(event.value))
    return {
      event: null,
      what: checks.length === 0 ? null : 'is of an event at which there is nothing to decide',
    };
  if (!Object.hasOwn(written.events, event.value))
    return { event: null, what: 'is of an event that is not among `events`' };
  const found: PayloadResult<readonly FoundCheck[]> = readPayloadChecks(
    written.events[event.value]!,
    payload,
  );
  if (!found.ok) return { event: event.value, what: found.why };
  const isSame = isDeepStrictEqual(found.value, checks);
  return {
    event: event.value,
    what: isSame ? null : `is read as ${JSON.stringify(found.value).slice(0, 300)}`,
  };
}
