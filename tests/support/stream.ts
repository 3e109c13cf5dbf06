/** Clients of the event stream of a service: Node's own `WebSocket`, and a plain `fetch` for server-sent events. */

export interface StreamEvent {
  readonly event_id: string;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly decision: string;
  readonly rule: string;
  readonly [field: string]: unknown;
}

export interface TestReader {
  readonly events: StreamEvent[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly send: (message: unknown) => void;
  readonly close: () => void;
}

/** Opens a WebSocket. Rejects if the service refuses it. */
export async function openReader(
  url: string,
  query = '',
  options: {
    readonly protocols?: readonly string[];
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<TestReader> {
  const address = `${url.replace(/^http/, 'ws')}/v1/ws/events${query}`;
  // The type has the options of browsers; Node's `WebSocket` accepts headers too.
  const socket = new WebSocket(address, {
    protocols: [...(options.protocols ?? [])],
    headers: options.headers ?? {},
  } as unknown as string[]);
  const events: StreamEvent[] = [];
  socket.onmessage = ({ data }) => void events.push(JSON.parse(String(data)) as StreamEvent);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason });
  });
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error('the WebSocket was not opened'));
  });
  return {
    events,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    close: () => socket.close(),
  };
}
