import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { matchesAny } from '../../core/tags.ts';
import { callOperation } from '../../operations/call.ts';
import { isDecisionOperation, Refusal, type RunOperation } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { type ConnectionPool, openConnectionPool } from './connection.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { openGatewayServer } from './gateway-server.ts';
import { collectInstructions } from './instructions.ts';
import { type GuardPorts, openPolicyGuard } from './policy-guard.ts';
import { deriveStateKey, openRequestStates } from './request-state.ts';
import {
  type ClientNotice,
  openChangeNotifier,
  openResourceWatcher,
  type ResourceWatcher,
} from './resource-watcher.ts';
import type { McpServerSettings } from './transports.ts';
import { openConfiguredServer } from './upstream-server.ts';

/** The identity that a session belongs to. No other caller uses its connections. */
export interface ClientIdentity {
  readonly tenant_id: string;
  /** `null` if the caller names no agent. */
  readonly agent_id: string | null;
  readonly user_id: string | null;
  readonly session_id: string | null;
  /** The task that its calls must fit; `null` if it names none. */
  readonly task_id: string | null;
  readonly caller: Caller;
}

/** The connections of one caller to upstream servers. */
export interface GatewaySession {
  readonly handler: McpHttpHandler;
  readonly watching: ResourceWatcher;
  /** Returns the instructions of the servers, for clients that connect. */
  readonly instructions: () => Promise<string | undefined>;
}

/** The sessions of this process. */
export interface SessionPool {
  /** Returns a session to use until `release` is called. */
  readonly acquire: (identity: ClientIdentity) => {
    readonly session: GatewaySession;
    readonly release: () => void;
  };
  readonly close: () => Promise<void>;
}

/** The dependencies of the session pool. */
export interface SessionPoolParts {
  readonly runtime: Runtime;
  readonly buildGuardPorts: (run: RunOperation) => GuardPorts;
  readonly servers: readonly McpServerSettings[];
  readonly sessions_max: number;
  /** Returns the trace of the request that is being answered. */
  readonly getTraceId: () => string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly logFailure: (server: string, what: string, error: unknown) => void;
}

interface PooledSession {
  readonly session: GatewaySession;
  used: number;
  empty_since_ms: number;
  readonly close: () => Promise<void>;
}

/** The time for which an unused session is kept for the next call of the same caller, in milliseconds. */
const IDLE_MS = 300_000;
const SWEEP_MS = 30_000;

/** Keeps one session per recent caller, at most `sessions_max` in this process. */
export function openSessionPool(parts: SessionPoolParts): SessionPool {
  const kept = new Map<string, PooledSession>();
  const { version } = parts.runtime;
  const pool = openConnectionPool({ version, env: parts.env, stderr: 'ignore' });
  const closeOne = (key: string, one: PooledSession): Promise<void> => {
    kept.delete(key);
    return one
      .close()
      .catch((error: unknown) => parts.logFailure('', 'a session could not be closed', error));
  };
  const timer = setInterval(() => {
    const beforeMs = performance.now() - IDLE_MS;
    for (const [key, one] of kept)
      if (one.used === 0 && one.empty_since_ms < beforeMs) void closeOne(key, one);
  }, SWEEP_MS).unref();

  function closeOldest(): void {
    if (kept.size < parts.sessions_max) return;
    const free = [...kept].filter(([, { used }]) => used === 0);
    const [longest] = free.sort(([, one], [, other]) => one.empty_since_ms - other.empty_since_ms);
    if (longest === undefined)
      throw new Refusal(
        'unavailable',
        'Too many callers use the gateway (`mcp.sessions_max`): try again later.',
      );
    void closeOne(...longest);
  }

  return {
    acquire: (identity) => {
      const key = buildSessionKey(identity);
      let one = kept.get(key);
      if (one === undefined) {
        closeOldest();
        one = openSession(identity, parts, pool);
        kept.set(key, one);
      }
      const entered = one;
      entered.used += 1;
      let isIn = true;
      const release = () => {
        if (!isIn) return;
        isIn = false;
        entered.used -= 1;
        entered.empty_since_ms = performance.now();
      };
      return { session: entered.session, release };
    },
    close: async () => {
      clearInterval(timer);
      await Promise.all([...kept].map(([key, one]) => closeOne(key, one)));
    },
  };
}

/** Two credentials of one subject may have different permissions, so the key includes the whole caller. */
function buildSessionKey({ caller, ...names }: ClientIdentity): string {
  return JSON.stringify([listNames(names), caller]);
}

/** A renewed token for the same subject is the same client. */
function buildClientKey({ caller, ...names }: ClientIdentity): string {
  return JSON.stringify([listNames(names), caller.id]);
}

function listNames(names: Omit<ClientIdentity, 'caller'>): readonly (string | null)[] {
  return [names.tenant_id, names.agent_id, names.user_id, names.session_id, names.task_id];
}

/** Sessions of one credential share connections to servers, and therefore the programs that run for it. */
function buildOwnerKey({ tenant_id, caller }: ClientIdentity): string {
  return JSON.stringify([tenant_id, caller]);
}

const SUBSCRIPTIONS_MAX = 8;

function openSession(
  identity: ClientIdentity,
  { runtime, buildGuardPorts, servers: settingsList, getTraceId, logFailure }: SessionPoolParts,
  pool: ConnectionPool,
): PooledSession {
  const { version } = runtime;
  const { tenant_id, agent_id, session_id, user_id, task_id, caller } = identity;
  const guard = openPolicyGuard(
    buildGuardPorts((operation, input) => {
      const traceId = getTraceId();
      return callOperation(operation, input, {
        ...{ runtime, caller, tenant_id, request_id: 'mcp-gateway' },
        ...(isDecisionOperation(operation) && {
          user_id,
          ...(task_id !== null && { task_id }),
          ...(traceId !== undefined && { trace_id: traceId }),
        }),
      });
    }),
    // All users share the configured credential, so they share one tool list and one set of pins.
    { agent_id, session_id, user_id: '' },
  );
  // Another worker may serve the client's next request.
  const states = openRequestStates(() => deriveStateKey(runtime.limits.state_dir), buildClientKey(identity));
  const notifier = openChangeNotifier((notice) => publishNotice(handler, notice), logFailure);
  const servers = settingsList
    .filter(
      ({ agents, tenants }) => matchesAny(agents, agent_id ?? 'unknown') && matchesAny(tenants, tenant_id),
    )
    .map((settings) =>
      openConfiguredServer(settings, (reported) => pool.join(settings, buildOwnerKey(identity), reported), {
        guard,
        states,
        onChange: notifier.report,
      }),
    );
  const watching = openResourceWatcher(servers);
  const title = 'service gateway';
  const onListFailure: GatewayParts['onListFailure'] = (one, list) => notifier.report(one, { list });
  // Clients of earlier protocol revisions send independent requests here, so they cannot receive change notifications.
  const handler = createMcpHandler(
    ({ era, authInfo }) =>
      openGatewayServer({
        servers,
        watcher: era === 'modern' ? watching : null,
        version,
        title,
        instructions: authInfo?.extra?.instructions as string | undefined,
        onListFailure,
        logFailure,
      }),
    { maxSubscriptions: SUBSCRIPTIONS_MAX },
  );
  const kept: PooledSession = {
    session: {
      handler,
      watching,
      instructions: () => collectInstructions({ servers, logFailure, onListFailure }),
    },
    used: 0,
    empty_since_ms: performance.now(),
    close: async () => {
      notifier.close();
      await handler.close();
      await Promise.all(servers.map(({ upstream }) => upstream.close()));
    },
  };
  return kept;
}

function publishNotice({ notify }: McpHttpHandler, { method, params }: ClientNotice): void {
  if (method === 'notifications/tools/list_changed') notify.toolsChanged();
  else if (method === 'notifications/resources/list_changed') notify.resourcesChanged();
  else if (method === 'notifications/prompts/list_changed') notify.promptsChanged();
  else if (params !== undefined) notify.resourceUpdated(params.uri);
}
