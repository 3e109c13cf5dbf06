import type { ValueProblem } from './parse-config-value.ts';
import type { PathStep } from './problem-path.ts';
import type { Config } from './schema.ts';

type Server = Config['mcp']['servers'][number];

/** Checks the constraints between keys of `mcp`. Messages are predicates of sentences. */
export function checkMcpRequirements({ mcp }: Pick<Config, 'mcp'>): ValueProblem[] {
  return mcp.servers.flatMap((server, i) => {
    const at = (...steps: readonly PathStep[]) => ['mcp', 'servers', i, ...steps];
    const isTwice = mcp.servers.findIndex(({ name }) => name === server.name) < i;
    return [
      ...(isTwice ? [buildProblem(at('name'), 'is the name of two servers')] : []),
      ...checkTransport(server, at),
      ...checkAddress(server, at),
      ...checkHeaders(server, at),
    ];
  });
}

type At = (...steps: readonly PathStep[]) => PathStep[];

function checkTransport({ url, command, bearer_token, headers, env }: Server, at: At): ValueProblem[] {
  if ((url === undefined) === (command === undefined))
    return [buildProblem(at(), 'must have either `url` or `command`')];
  if (url !== undefined)
    return env.length === 0
      ? []
      : [buildProblem(at('env'), 'is for a `command`, and has no effect on a `url`')];
  const hasCredential = bearer_token !== undefined || Object.keys(headers).length > 0;
  return hasCredential ? [buildProblem(at(), 'has a `command`, which is sent no headers; see `env`')] : [];
}

function checkAddress({ url }: Server, at: At): ValueProblem[] {
  if (url === undefined || url.includes('${secret:')) return [];
  if (!URL.canParse(url)) return [buildProblem(at('url'), 'is no address that can be called')];
  const { username, password, hash } = new URL(url);
  if (username !== '' || password !== '')
    return [
      buildProblem(at('url'), 'has a user or a password; a credential goes into `bearer_token` or `headers`'),
    ];
  return hash === '' ? [] : [buildProblem(at('url'), 'has a fragment, which no server is ever sent')];
}

/** Headers that the protocol and the transport set on every call. */
const NOT_FREE =
  /^(?:accept|accept-encoding|connection|content-(?:encoding|length|type)|expect|host|keep-alive|last-event-id|mcp-.*|te|trailer|transfer-encoding|upgrade)$/;

function checkHeaders({ headers: written, bearer_token }: Server, at: At): ValueProblem[] {
  return Object.keys(written).flatMap((name) => {
    const lower = name.toLowerCase();
    if (lower === 'authorization' && bearer_token !== undefined)
      return [buildProblem(at('headers', name), 'sets the same header as `bearer_token`; keep one of them')];
    return NOT_FREE.test(lower) ? [buildProblem(at('headers', name), 'may not be set here')] : [];
  });
}

function buildProblem(steps: readonly PathStep[], message: string): ValueProblem {
  return { steps, message };
}
