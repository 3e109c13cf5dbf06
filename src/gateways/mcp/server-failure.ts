/** The reasons why an upstream server gave no answer. The sentences contain no text of the server. */
const SENTENCES = {
  other_address: 'It names another address than the one that is configured, which is not called.',
  metadata: 'Its address is one where clouds keep the credentials of machines, so it is not called.',
  redirected: 'It answers with a redirection, which is not followed: configure the address where it leads.',
  too_long: 'Its answer is longer than `response_bytes_max`.',
  cooldown: 'Recent attempts to reach it failed; the next one is made within 30 seconds.',
  timeout: 'It did not answer in time.',
  unreachable: 'It cannot be reached, or ended.',
  refused: 'It refused with an error.',
  unauthorized: 'It wants another credential than the one that is configured.',
  invalid_response: 'Its answer does not follow the protocol.',
  endless_list: 'Its list has no end.',
} as const;

/** The code of a failure of an upstream server. */
export type ServerFailureCode = keyof typeof SENTENCES;

/** An expected failure of an upstream server. */
export class ServerFailure extends Error {
  readonly code: ServerFailureCode;
  /** @param bytesMax - the exceeded limit, which the sentence then names */
  constructor(code: ServerFailureCode, bytesMax?: number) {
    super(bytesMax === undefined ? SENTENCES[code] : `${SENTENCES[code].slice(0, -1)} (${bytesMax} bytes).`);
    this.name = 'ServerFailure';
    this.code = code;
  }
}

const CONFIGURATION_CODES: readonly ServerFailureCode[] = [
  'other_address',
  'metadata',
  'redirected',
  'too_long',
  'unauthorized',
];

/** Returns whether a failure lasts until the configuration changes. Its sentence then names the change. */
export function isConfigurationFailure({ code }: ServerFailure): boolean {
  return CONFIGURATION_CODES.includes(code);
}

const CAUSES_MAX = 5;

/** Classifies an error of the library, a transport or a server. The innermost known cause counts. */
export function classifyFailure(error: unknown): ServerFailure {
  const chain: unknown[] = [];
  for (let at = error; at instanceof Error && chain.length < CAUSES_MAX; at = at.cause) chain.push(at);
  for (const one of chain.reverse()) {
    if (one instanceof ServerFailure) return one;
    const code = findFailureCode(one);
    if (code !== null) return new ServerFailure(code);
  }
  return new ServerFailure('invalid_response');
}

function findFailureCode(error: unknown): ServerFailureCode | null {
  const { name, code, status } = (error ?? {}) as { name?: unknown; code?: unknown; status?: unknown };
  if (status === 401 || status === 403) return 'unauthorized';
  // A number is a protocol error code or an HTTP status.
  if (typeof code === 'number' || typeof status === 'number') return 'refused';
  if (typeof code === 'string') return BY_CODE[code] ?? 'unreachable';
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout';
  return error instanceof TypeError ? 'unreachable' : null;
}

const BY_CODE: Readonly<Record<string, ServerFailureCode>> = {
  REQUEST_TIMEOUT: 'timeout',
  CONNECTION_CLOSED: 'unreachable',
  NOT_CONNECTED: 'unreachable',
  SEND_FAILED: 'unreachable',
  INVALID_RESULT: 'invalid_response',
  UNSUPPORTED_RESULT_TYPE: 'invalid_response',
  ERA_NEGOTIATION_FAILED: 'invalid_response',
  CLIENT_HTTP_UNEXPECTED_CONTENT: 'invalid_response',
  CLIENT_HTTP_NOT_IMPLEMENTED: 'refused',
};
