/** A short message between the nodes of a service. It only says where to look: the receiver reads the store. */
export interface Hint {
  /** `approval`: a request changed. `revision`: the managed policy, the API keys or the blocked agents changed. */
  readonly topic: (typeof HINT_TOPICS)[number];
  /** The thing that changed, at most 128 characters; empty if the topic says it all. */
  readonly id: string;
}

const HINT_TOPICS = ['approval', 'revision'] as const;
const ID_MAX = 128;

/**
 * Carries hints to every process of every node, at most once each. A hint may be lost, so a subscriber also polls.
 */
export interface EventBus {
  /** Sends a hint to all subscribers, own ones included. Never rejects. */
  readonly publish: (hint: Hint) => Promise<void>;
  /** Calls `listener` with each hint, and returns the function that ends this. */
  readonly subscribe: (listener: (hint: Hint) => void) => () => void;
  readonly close: () => Promise<void>;
}

/** The subscribers of one process. */
export interface Subscribers extends Pick<EventBus, 'subscribe'> {
  readonly deliver: (hint: Hint) => void;
  readonly clear: () => void;
}

/** Opens the list of subscribers, which is empty. `deliver` calls each with a hint. */
export function openSubscribers(): Subscribers {
  const listeners = new Set<(hint: Hint) => void>();
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    deliver: (hint) => {
      for (const listener of listeners) listener(hint);
    },
    clear: () => listeners.clear(),
  };
}

/** Opens the bus of a service with one node. */
export function openLocalBus(): EventBus {
  const { subscribe, deliver, clear } = openSubscribers();
  return { publish: async (hint) => deliver(hint), subscribe, close: async () => clear() };
}

/** Writes a hint as text of at most 200 bytes. */
export function formatHint({ topic, id }: Hint): string {
  return `${topic} ${id.slice(0, ID_MAX)}`;
}

/** Reads a hint from text; `null` for any other text, because everyone with access to the database can send one. */
export function parseHint(text: string): Hint | null {
  const [topic, id = '', ...more] = text.split(' ');
  const known = HINT_TOPICS.find((each) => each === topic);
  if (known === undefined || more.length > 0 || !/^[\w.-]{0,128}$/.test(id)) return null;
  return { topic: known, id };
}
