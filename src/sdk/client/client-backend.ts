import { type AdvisorName, buildFailedVerdict, type CheckBody, type GuardBackend } from '../backend.ts';
import {
  AIBackendNotConfiguredError,
  CustomshouseError,
  ServiceRefusedError,
  ServiceUnavailableError,
} from '../errors.ts';
import { type ServiceApi, serviceRoutes } from '../service-api.ts';
import type { GuardOperation, GuardStream, GuardVerdict, StreamPiece } from '../types.ts';
import { callService, type ServiceAddress } from './http-request.ts';
import { readApproval, readVerdict } from './read-verdict.ts';
import { type AddressOptions, readServiceAddress } from './service-address.ts';

/** Address and behaviour of a guard of a service. */
export interface ClientOptions extends AddressOptions {
  /**
   * The decision if the service cannot be reached, is too slow, or does not answer as it should. Default `block`. With
   * `allow` agents run without any check while the service is away. A service that refuses (a wrong key, for
   * example) always blocks.
   */
  readonly on_unavailable?: 'block' | 'allow';
  /** The same as `on_unavailable`. */
  readonly onUnavailable?: 'block' | 'allow';
}

/** The longest text of a stream that is held until it can be judged, in UTF-16 units. */
const STREAM_UNITS_MAX = 8_388_608;

/** Opens the back end that asks a service. Throws if an option cannot be used. */
export function openClientBackend(options: ClientOptions): GuardBackend {
  const address = readServiceAddress(options);
  const onUnavailable = readOnUnavailable(options);
  const check: GuardBackend['check'] = (operation, body) =>
    checkRemotely(address, onUnavailable, operation, body);
  return {
    kind: 'client',
    check,
    openStream: (boundary, body) => openWholeStream(check, boundary, body),
    findApproval: async (requestId, waitSeconds) => {
      const seconds = Math.max(0, Math.floor(waitSeconds));
      const query = seconds > 0 ? `?wait=${seconds}s` : '';
      const path = serviceRoutes.approvals_show[1].replace('{request_id}', encodeURIComponent(requestId));
      const found = await callService(address, { path: `${path}${query}`, wait_ms: seconds * 1_000 });
      const approval = readApproval(found);
      if (approval === null) throw new ServiceUnavailableError(NOT_AN_ANSWER);
      return approval;
    },
    advise: (advisor, body) => callAdvisor(address, advisor, body),
    close: async () => {},
  };
}

const NOT_AN_ANSWER = 'The service did not answer as it should. Check its address and its version.';

function readOnUnavailable({ on_unavailable, onUnavailable }: ClientOptions): 'block' | 'allow' {
  const choice: string = on_unavailable ?? onUnavailable ?? 'block';
  if (choice === 'block' || choice === 'allow') return choice;
  throw new CustomshouseError('`on_unavailable` must be `block` or `allow`.');
}

async function checkRemotely(
  address: ServiceAddress,
  onUnavailable: 'block' | 'allow',
  operation: GuardOperation,
  body: CheckBody,
): Promise<GuardVerdict> {
  try {
    const answer = await callService(address, {
      path: serviceRoutes[operation][1],
      body: JSON.stringify(body),
    });
    const verdict = readVerdict(operation, body.phase === 'response', answer);
    if (verdict === null) throw new ServiceUnavailableError(NOT_AN_ANSWER);
    return verdict;
  } catch (error) {
    return buildErrorVerdict(error, onUnavailable);
  }
}

function buildErrorVerdict(error: unknown, onUnavailable: 'block' | 'allow'): GuardVerdict {
  if (error instanceof ServiceRefusedError && error.status < 500)
    return buildFailedVerdict('sdk.refused', error.message);
  const isKnown = error instanceof ServiceUnavailableError || error instanceof ServiceRefusedError;
  const reason = isKnown ? error.message : 'The request could not be sent to the service.';
  const verdict = buildFailedVerdict('sdk.unavailable', reason);
  if (!isKnown || onUnavailable === 'block') return verdict;
  return { ...verdict, decision: 'allow', action: 'allow' };
}

/**
 * The service judges a text as a whole, so a stream is held until its end. A guard in process releases text as it
 * arrives.
 */
function openWholeStream(
  check: GuardBackend['check'],
  boundary: 'input' | 'output',
  body: CheckBody,
): GuardStream {
  const pieces: string[] = [];
  let units = 0;
  let ended: GuardVerdict | null = null;
  return {
    push: async (text): Promise<StreamPiece> => {
      if (ended === null) {
        units += text.length;
        pieces.push(text);
        if (units > STREAM_UNITS_MAX) {
          pieces.length = 0;
          ended = buildFailedVerdict(
            'sdk.stream_too_long',
            `A stream may have ${STREAM_UNITS_MAX} characters at most.`,
          );
        }
      }
      return { text: '', verdict: ended };
    },
    end: async (): Promise<StreamPiece> => {
      if (ended !== null) return { text: '', verdict: ended };
      const text = pieces.join('');
      ended = await check(boundary === 'input' ? 'scan_input' : 'guard_output', { ...body, text });
      if (ended.decision === 'allow') return { text, verdict: ended };
      return { text: ended.modified_text ?? '', verdict: ended };
    },
  };
}

/** The time limit of one answer of the model if the service does not give it, in seconds. The default of the service. */
const MODEL_SECONDS = 120;
/** An advisor sends an answer that cannot be used back once. */
const MODEL_ANSWERS_MAX = 2;
/** Time for the retries and the checks of the service in addition to the answers of the model, in milliseconds. */
const ADVISOR_EXTRA_MS = 30_000;

async function callAdvisor(
  address: ServiceAddress,
  advisor: AdvisorName,
  body: Readonly<Record<string, unknown>>,
): Promise<ServiceApi['intelligence_recommend']['response']> {
  const path = serviceRoutes[`intelligence_${advisor}`][1];
  try {
    // Asked first, so that a missing back end is the same error for every advisor.
    const modelSeconds = await readModelSeconds(address);
    // Longer than the service itself waits, so that its own error arrives.
    const waitMs = MODEL_ANSWERS_MAX * modelSeconds * 1_000 + ADVISOR_EXTRA_MS;
    const answer = await callService(address, { path, body: JSON.stringify(body), wait_ms: waitMs });
    if (typeof answer !== 'object' || answer === null) throw new ServiceUnavailableError(NOT_AN_ANSWER);
    return answer as ServiceApi['intelligence_recommend']['response'];
  } catch (error) {
    const isMissing = error instanceof ServiceRefusedError && error.code === 'not_configured';
    throw isMissing ? new AIBackendNotConfiguredError(error.message) : error;
  }
}

/** Returns how long the model may take for one answer, in seconds. Rejects if advisors are not enabled. */
async function readModelSeconds(address: ServiceAddress): Promise<number> {
  try {
    const status = await callService(address, { path: serviceRoutes.intelligence_status[1] });
    const { timeout_seconds } = (status ?? {}) as { timeout_seconds?: unknown };
    return typeof timeout_seconds === 'number' && timeout_seconds > 0 ? timeout_seconds : MODEL_SECONDS;
  } catch (error) {
    // A key without the permission to see the status may still ask an advisor.
    if (error instanceof ServiceRefusedError && error.status === 403) return MODEL_SECONDS;
    throw error;
  }
}
