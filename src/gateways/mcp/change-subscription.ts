import type { Client, McpSubscription } from '@modelcontextprotocol/client';

/** A change that a server reports: one of its lists, or a resource. */
export type ServerChange =
  | { readonly list: 'tools' | 'resources' | 'prompts' }
  | { readonly resource: string };

/** Receives the changes that a server reports. */
export type ChangeListener = (change: ServerChange) => void;

/** The subscription to a server's changes while it is connected. */
export interface ChangeSubscription {
  /** Subscribes. Call it once, after connecting. */
  readonly start: () => void;
  /** Adds or removes a resource. */
  readonly renew: (uri: string, isWanted: boolean) => Promise<void>;
  /** Returns whether the server currently reports changes of its tool list. */
  readonly reports_tools: () => boolean;
  readonly close: () => void;
}

const LISTS = ['tools', 'resources', 'prompts'] as const;
/** The delay before a new subscription after one ends, in milliseconds; it doubles up to the maximum. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 30_000;

/**
 * Prepares a client for change notifications. In the current protocol revision the client requests them with a
 * filter. In earlier revisions servers send them unsolicited, and those of a resource after a subscription.
 * @param watched - the watched resources; the caller reports changes with `renew`
 * @param sendsChanges - true if the transport always delivers unsolicited notifications of earlier revisions
 */
export function openChangeSubscription(
  client: Client,
  reported: ChangeListener,
  watched: ReadonlySet<string>,
  sendsChanges: boolean,
): ChangeSubscription {
  let subscription: McpSubscription | null = null;
  let timer: NodeJS.Timeout | null = null;
  let pauseMs = PAUSE_MS;
  let turn = 0;
  let isClosed = false;
  for (const list of LISTS)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => reported({ list }));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    if (watched.has(params.uri)) reported({ resource: params.uri });
  });
  const isModern = () => client.getProtocolEra() === 'modern';

  async function listen(): Promise<void> {
    const mine = ++turn;
    const before = subscription;
    const filter = buildFilter(client, watched);
    const opened = Object.keys(filter).length === 0 ? null : await client.listen(filter);
    // A later call has started meanwhile and closes the previous subscription.
    if (mine !== turn || isClosed) return void opened?.close();
    subscription = opened;
    const beganMs = performance.now();
    void opened?.closed.then((cause) => {
      const isCurrent = subscription === opened;
      if (isCurrent) subscription = null;
      if (cause !== 'local' && isCurrent) scheduleRetry(performance.now() - beganMs);
    });
    await before?.close();
  }

  function scheduleRetry(lastedMs: number): void {
    if (isClosed) return;
    if (timer !== null) clearTimeout(timer);
    pauseMs = lastedMs > PAUSE_MS_MAX ? PAUSE_MS : Math.min(pauseMs * 2, PAUSE_MS_MAX);
    timer = setTimeout(() => void listen().catch(() => scheduleRetry(0)), pauseMs).unref();
  }

  return {
    start: () => {
      if (isModern()) void listen().catch(() => scheduleRetry(0));
      else for (const uri of watched) void client.subscribeResource({ uri }).catch(() => {});
    },
    renew: async (uri, isWanted) => {
      if (isModern()) await listen();
      else if (isWanted) await client.subscribeResource({ uri });
      else await client.unsubscribeResource({ uri });
    },
    reports_tools: () => reportsToolChanges(client) && (isModern() ? subscription !== null : sendsChanges),
    close: () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function reportsToolChanges(client: Client): boolean {
  return client.getServerCapabilities()?.tools?.listChanged === true;
}

/** Returns the changes to subscribe to: those that the server declares. */
function buildFilter(client: Client, watched: ReadonlySet<string>) {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  return {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(resources?.listChanged === true && { resourcesListChanged: true }),
    ...(prompts?.listChanged === true && { promptsListChanged: true }),
    ...(resources?.subscribe === true && watched.size > 0 && { resourceSubscriptions: [...watched] }),
  };
}
