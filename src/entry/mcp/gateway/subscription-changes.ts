/** A request to start or end a subscription to changes. */
export interface SubscriptionChange {
  readonly id: string | number;
  /** Identifies the subscription until it ends. */
  readonly holder: string;
  /** The resources of the subscription. */
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

/** Returns the subscription change in a message of the current protocol revision; `null` if there is none. */
export function readSubscriptionChange(message: unknown): SubscriptionChange | null {
  const { id, method, params } = (message ?? {}) as Message;
  if (method === 'notifications/cancelled' && isId(params?.requestId))
    return { id: params.requestId, holder: getHolder(params.requestId), uris: [], ends: true };
  if (method !== 'subscriptions/listen' || !isId(id)) return null;
  const given = params?.notifications?.resourceSubscriptions;
  const uris = Array.isArray(given) ? given.filter((uri) => typeof uri === 'string') : [];
  return { id, holder: getHolder(id), uris, ends: false };
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || typeof id === 'number';
}

function getHolder(id: string | number): string {
  return `listen:${JSON.stringify(id)}`;
}
