/** A client's wish to be told of changes, or that it wants that no longer. */
export interface SubscriptionChange {
  readonly id: string | number;
  /** By which the wish is known until it ends. */
  readonly holder: string;
  /** The resources among them. */
  readonly uris: readonly string[];
  readonly ends: boolean;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly requestId?: unknown;
    readonly notifications?: { readonly resourceSubscriptions?: unknown };
  };
}

/** What a message of the current revision says about changes to be told of; `null` nothing. */
export function readSubscriptionChange(message: unknown): SubscriptionChange | null {
  const { id, method, params } = (message ?? {}) as Message;
  if (method === 'notifications/cancelled' && isId(params?.requestId))
    return { id: params.requestId, holder: holderOf(params.requestId), uris: [], ends: true };
  if (method !== 'subscriptions/listen' || !isId(id)) return null;
  const given = params?.notifications?.resourceSubscriptions;
  const uris = Array.isArray(given) ? given.filter((uri) => typeof uri === 'string') : [];
  return { id, holder: holderOf(id), uris, ends: false };
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || typeof id === 'number';
}

function holderOf(id: string | number): string {
  return `listen:${JSON.stringify(id)}`;
}
