/** A path at which clients read events as they happen. */
export interface EventRoute {
  readonly http: { readonly method: 'GET'; readonly path: string };
  /** The name of the route in the API description. */
  readonly name: 'events_websocket' | 'events_stream';
  readonly summary: string;
  readonly description: string;
}

export const EVENTS_WEBSOCKET: EventRoute = {
  http: { method: 'GET', path: '/v1/ws/events' },
  name: 'events_websocket',
  summary: 'Events as they happen, over a WebSocket',
  description:
    'Sends one JSON message per decision. The client may send JSON messages that set a filter, as `{"boundary": "output", "tenant_id": "acme"}`; each replaces the previous one. The first may contain `after`, the ID of the last event that the client received, to get the missed events. The server sends a ping every 30 seconds and closes with 1001 after three without a pong. Browsers send the credential as the subprotocol `bearer.<token>` next to `service.events.v1`.',
};

export const EVENTS_STREAM: EventRoute = {
  http: { method: 'GET', path: '/v1/events' },
  name: 'events_stream',
  summary: 'Events as they happen, as server-sent events',
  description:
    'The same stream for clients without WebSockets: one `data` line of JSON for each decision, its `id` the `event_id`. `Last-Event-ID` or `after` continues after an event. A comment every 30 seconds.',
};

/** Both routes. They are not operations, because a stream has no end and therefore no answer with a schema. */
export const eventRoutes: readonly EventRoute[] = [EVENTS_WEBSOCKET, EVENTS_STREAM];
