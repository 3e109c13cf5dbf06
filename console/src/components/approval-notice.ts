import { useState, useSyncExternalStore } from 'react';
import { useMayCall } from '../api/session.ts';
import { useOperation } from '../api/use-operation.ts';
import { revealHidden } from './safe-text.tsx';

const STORAGE_KEY = 'console-notify-approvals';
const TEXT_MAX = 80;
const REFRESH_MS = 15_000;
const LIMIT = 200;

/** Requests that were seen before; `null` until the first list, which notifies of nothing. */
let seen: Set<string> | null = null;

interface NewRequest {
  readonly request_id: string;
  readonly agent_id: string;
  readonly tool: string | null;
}

/** Notifies of new requests on every page, while the user wants that. Without the wish it reads nothing. */
export function useApprovalNotices(): void {
  const isOn = useSyncExternalStore(subscribeToChoice, isNotifying);
  const mayRead = useMayCall()('dashboardApprovals');
  const input = { status: 'pending', limit: LIMIT } as const;
  const { data } = useOperation('dashboardApprovals', input, {
    refresh_ms: REFRESH_MS,
    in_background: true,
    enabled: isOn && mayRead,
  });
  if (isOn && data !== undefined) notifyNewRequests(data.approvals);
}

const choiceListeners = new Set<() => void>();

function subscribeToChoice(listener: () => void): () => void {
  choiceListeners.add(listener);
  return () => choiceListeners.delete(listener);
}

/** Shows a notification of the browser for each request that was not in an earlier list, if the user wants that. */
function notifyNewRequests(requests: readonly NewRequest[]): void {
  const known = seen;
  seen = new Set([...(known ?? []), ...requests.map(({ request_id }) => request_id)]);
  if (known === null || !isNotifying()) return;
  for (const { request_id, agent_id, tool } of requests.filter((each) => !known.has(each.request_id))) {
    const body = `${shortenText(agent_id)} wants to call ${shortenText(tool ?? 'a tool')}.`;
    const notice = new Notification('A call waits for approval', { body, tag: request_id });
    notice.onclick = () => window.focus();
  }
}

/** Returns whether notifications are on, and a function that turns them on or off. The browser asks the user for permission. */
export function useNotificationChoice(): readonly [boolean, () => Promise<void>] {
  const [isOn, setOn] = useState(isNotifying);
  return [
    isOn,
    async () => {
      const wanted = !isOn && (await Notification.requestPermission()) === 'granted';
      if (wanted) localStorage.setItem(STORAGE_KEY, 'on');
      else localStorage.removeItem(STORAGE_KEY);
      setOn(wanted);
      for (const each of choiceListeners) each();
    },
  ];
}

function isNotifying(): boolean {
  return (
    'Notification' in window &&
    Notification.permission === 'granted' &&
    localStorage.getItem(STORAGE_KEY) === 'on'
  );
}

function shortenText(text: string): string {
  const shown = revealHidden(text);
  return shown.length > TEXT_MAX ? `${shown.slice(0, TEXT_MAX)} …` : shown;
}
