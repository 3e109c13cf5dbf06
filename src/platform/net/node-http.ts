/**
 * Returns Node's HTTP module. An `import` of it also loads the WebSocket client that it re-exports, which doubles the
 * start time of a process.
 */
export function getNodeHttp(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}
