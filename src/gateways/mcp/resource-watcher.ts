import type { ServerChange } from './change-subscription.ts';
import { PolicyRefusal } from './policy-refusal.ts';
import { findResourceServer } from './resources-and-prompts.ts';
import { classifyFailure } from './server-failure.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** The resources whose changes a client subscribes to. */
export interface ResourceWatcher {
  /**
   * Subscribes a holder to changes of lists and of these resources. Each URI is judged like a call. Rejects if a
   * resource may not be watched or its server cannot be reached.
   */
  readonly watch: (holder: string, uris: readonly string[]) => Promise<void>;
  /** Removes these URIs, or all of them without `uris`. Never rejects. */
  readonly unwatch: (holder: string, uris?: readonly string[]) => Promise<void>;
}

const WATCHED_MAX = 100;

/** Counts subscribers, so that each server is subscribed to once and unsubscribed from after the last one leaves. */
export function openResourceWatcher(targets: readonly UpstreamServer[]): ResourceWatcher {
  const holders = new Map<string, Set<string>>();
  const isWanted = (uri: string) => [...holders.values()].some((uris) => uris.has(uri));

  let isAttended = false;
  const attend = () => {
    if (isAttended === holders.size > 0) return;
    isAttended = holders.size > 0;
    for (const { upstream } of targets) upstream.attend(isAttended);
  };

  async function want(holder: string, uri: string): Promise<void> {
    const { target, server_uri } = findResourceServer(targets, uri);
    const { guard, naming, upstream } = target;
    const request = await guard.judgeRequest(
      naming.toPolicyName('resources/subscribe'),
      { uri: server_uri },
      null,
    );
    if ('blocked' in request) throw new PolicyRefusal(request.blocked);
    const all = [...holders.values()].reduce((count, uris) => count + uris.size, 0);
    if (all >= WATCHED_MAX)
      throw new PolicyRefusal(`At most ${WATCHED_MAX} resources are watched at a time.`);
    holders.get(holder)?.add(uri);
    await upstream.watch(server_uri, true).catch(async (error: unknown) => {
      await leave(holder, [uri]);
      throw error;
    });
  }

  async function leave(holder: string, given?: readonly string[]): Promise<void> {
    const mine = holders.get(holder);
    for (const uri of given ?? [...(mine ?? [])]) {
      if (mine?.delete(uri) !== true || isWanted(uri)) continue;
      const { target, server_uri } = findResourceServer(targets, uri);
      await target.upstream.watch(server_uri, false).catch(() => {});
    }
    if (mine?.size === 0) holders.delete(holder);
    attend();
  }

  return {
    watch: async (holder, uris) => {
      if (!holders.has(holder)) holders.set(holder, new Set());
      attend();
      for (const uri of uris) await want(holder, uri);
    },
    unwatch: leave,
  };
}

/** A notification for the client. */
export interface ClientNotice {
  readonly method: string;
  readonly params?: { readonly uri: string };
}

/** The minimum interval between equal notifications, in milliseconds. */
const NOTICE_INTERVAL_MS = 250;

/**
 * Sends change notifications to a client, equal ones at most once per interval. A changed list of tools is checked
 * first, so that violations are recorded even if the client never requests the list.
 */
export function openChangeNotifier(
  notify: (notice: ClientNotice) => void,
  failed: (server: string, what: string, error: unknown) => void,
) {
  const waiting = new Map<string, NodeJS.Timeout>();
  return {
    report: (target: UpstreamServer, change: ServerChange) => {
      const notice = buildNotice(target, change);
      const key = JSON.stringify([target.name, notice]);
      if (waiting.has(key)) return;
      const pass = async () => {
        waiting.delete(key);
        if ('list' in change && change.list === 'tools')
          await target.catalogue
            .listShown()
            .catch((error: unknown) => failed(target.name, 'tools/list has failed', classifyFailure(error)));
        notify(notice);
      };
      waiting.set(
        key,
        setTimeout(() => void pass(), NOTICE_INTERVAL_MS),
      );
    },
    close: () => {
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}

function buildNotice({ naming }: UpstreamServer, change: ServerChange): ClientNotice {
  if ('list' in change) return { method: `notifications/${change.list}/list_changed` };
  return { method: 'notifications/resources/updated', params: { uri: naming.toAgentUri(change.resource) } };
}
