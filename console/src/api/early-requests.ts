declare global {
  /** The requests that `public/early-requests.js` has started, by path; `null` for one that failed. */
  var earlyRequests: Map<string, Promise<Response | null>> | undefined;
}

/** Returns the answer to a request that started before the scripts of the page, once; `null` if there is none. */
export async function takeEarlyResponse(path: string): Promise<Response | null> {
  const response = globalThis.earlyRequests?.get(path) ?? null;
  globalThis.earlyRequests?.delete(path);
  return response;
}
