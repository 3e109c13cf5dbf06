/** A path at which events are read as they happen. */
export interface EventRoute {
  readonly http: { readonly method: 'GET'; readonly path: string };
  /** Names it in the description. */
  readonly name: 'events_websocket' | 'events_stream';
  readonly summary: string;
  readonly description: string;
}

export const EVENTS_WEBSOCKET: EventRoute = {
  http: { method: 'GET', path: '/v1/ws/events' },
  name: 'events_websocket',
  summary: 'Events as they happen, over a WebSocket',
  description:
    'One JSON message for each decision, from the connection on. The client may send JSON messages that narrow them: `{"boundary": "output", "tenant_id": "acme"}`; each takes the place of the one before. The first may say `after`, the last event that was seen, to get what was missed. A ping every 30 seconds; three without a pong end it with 1001. Browsers send the credential as the sub-protocol `bearer.<token>` beside `service.events.v1`.',
};

export const EVENTS_STREAM: EventRoute = {
  http: { method: 'GET', path: '/v1/events' },
  name: 'events_stream',
  summary: 'Events as they happen, as server-sent events',
  description:
    'The same stream for clients without WebSockets: one `data` line of JSON for each decision, its `id` the `event_id`. `Last-Event-ID` or `after` goes on behind an event. A comment every 30 seconds.',
};

/** Both of them. They are no operations: what is asked has no end, and so no answer of a shape. */
export const eventRoutes: readonly EventRoute[] = [EVENTS_WEBSOCKET, EVENTS_STREAM];
