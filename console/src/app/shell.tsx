import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { callOperation } from '../api/client.ts';
import { sessionQuery, useHasPermission, useSession } from '../api/session.ts';
import { useApprovalNotices } from '../components/approval-notice.ts';
import { Button } from '../components/button.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { navigation } from './navigation.ts';
import { setThemeChoice, type ThemeChoice, useThemeChoice } from './theme.ts';

/** The frame of every page: navigation on the left, on a narrow screen behind a button. */
export function Shell() {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const lastPath = useRef(path);
  useApprovalNotices();
  useEffect(() => {
    if (lastPath.current === path) return;
    lastPath.current = path;
    setOpen(false);
    // A screen reader and the keyboard continue at the new page and not in the navigation.
    main.current?.focus();
  }, [path]);
  return (
    <div className="shell">
      <a className="skip-link" href="#page">
        Skip to the page
      </a>
      <header className="topbar">
        <Button
          look="quiet"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </Button>
        <Wordmark />
      </header>
      <aside id="navigation" className={isOpen ? 'rail open' : 'rail'}>
        <Wordmark />
        <Navigation />
        <Account />
      </aside>
      <main id="page" className="page" ref={main} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

/** The name of the product with its sign: marks above and below the boundary line. */
export function Wordmark() {
  return (
    <span className="wordmark">
      <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
        <path d="M3 18h26" className="wordmark-line" />
        <path d="M7 14V8m6 6V5m6 9V9m6 5V6" className="wordmark-above" />
        <path d="M13 22v6m12-6v3" className="wordmark-below" />
      </svg>
      Customshouse
    </span>
  );
}

function Navigation() {
  const hasPermission = useHasPermission();
  const groups = navigation
    .map((group) => ({
      ...group,
      entries: group.entries.filter(({ permission }) => permission === null || hasPermission(permission)),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <nav aria-label="Pages">
      {groups.map((group) => (
        <section key={group.title} className="nav-group">
          <h2>{group.title}</h2>
          <ul>
            {group.entries.map(({ to, title }) => (
              <li key={to}>
                <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function Account() {
  const session = useSession();
  const router = useRouter();
  const client = useQueryClient();
  async function signOut() {
    const answer = await callOperation('sessionSignOut', {}).catch(() => null);
    // The sign-out at the OpenID provider, which leads back to the sign-in page.
    if (typeof answer?.location === 'string') return window.location.assign(answer.location);
    client.clear();
    client.setQueryData(sessionQuery.queryKey, null);
    await router.invalidate();
  }
  return (
    <footer className="account">
      <div className="account-user">
        <strong>
          <SafeText text={session.name || session.user_id} />
        </strong>
        <span>{session.roles.join(', ')}</span>
      </div>
      <ThemeSwitch />
      <Link to="/account" className="button quiet">
        Your account
      </Link>
      <Button look="quiet" onClick={() => void signOut()}>
        Sign out
      </Button>
    </footer>
  );
}

const THEMES: readonly (readonly [ThemeChoice, string])[] = [
  ['system', 'System theme'],
  ['light', 'Light theme'],
  ['dark', 'Dark theme'],
];

export function ThemeSwitch() {
  const choice = useThemeChoice();
  return (
    <select
      className="select quiet"
      aria-label="Theme"
      value={choice}
      onChange={(event) => setThemeChoice(event.currentTarget.value as ThemeChoice)}
    >
      {THEMES.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
