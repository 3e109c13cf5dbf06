import { normalizePath } from './path-form.ts';

/**
 * The meaning of paths for a command. A path is read as written: there is no file system and no working folder here.
 */

const TEMPORARY =
  /^(?:\/tmp|\/var\/tmp|\/private\/tmp|\/dev\/shm|\$TMPDIR|\$TEMP|\$TMP|%te?mp%|\$env:te?mp)(?:\/|$)/i;
/** Folders that tools create again, with their content. */
const REGENERABLE =
  /^(?:\.\/)?(?:[\w@.*-]+\/){0,4}(?:node_modules|dist|build|out|target|obj|tmp|temp|site|_site|_build|generated|__pycache__|\.(?:pytest|mypy|ruff|eslint|npm|pnpm|parcel|vite)[_-]?(?:cache|store)|\.cache|coverage|\.next|\.nuxt|\.output|\.svelte-kit|\.turbo|\.astro|\.docusaurus|\.angular|\.venv|venv|\.gradle|\.eggs|\.tox|\.nox|\.nyc_output|\.dart_tool|\.terraform|htmlcov|storybook-static|playwright-report|test-results|cmake-build-[\w-]+|DerivedData|vendor\/bundle|[\w*.-]+\.egg-info)(?:\/[\w@.*-]*){0,6}$|^(?:\.\/)?(?:[\w@.*-]+\/){0,4}(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|uv\.lock|poetry\.lock|\.eslintcache|\.coverage|\.DS_Store|[\w*.-]+\.(?:log|tsbuildinfo|pyc|pyo|o|obj|class|tmp|orig|rej|swp))$/;
const PACKAGE_CACHE =
  /^(?:\/var\/cache\/(?:apk|apt|dnf|yum|pacman)(?:\/[\w.*-]*){0,3}|\/var\/lib\/apt\/lists(?:\/[\w.*-]*){0,2}|(?:~|\$HOME|\/root)\/\.(?:cache|npm|yarn)(?:\/[\w.*-]*){0,3})$/;
const WHOLE =
  /^(?:\/|\/\*|~|~\/\*|\/(?:home|Users|root|etc|usr|var|boot|bin|sbin|lib|lib32|lib64|opt|srv|sys|proc|dev|System|Library|Applications|mnt|media)(?:\/\*)?|\/(?:home|Users)\/[\w.*-]+(?:\/\*)?|\/(?:usr|var)\/(?:bin|sbin|lib|local|share|lib64)(?:\/\*)?|[a-z]:(?:\/\*?)?(?:\/?(?:windows|users|program files)[\w ()]*(?:\/\*)?)?)$/i;

/**
 * Returns whether a path is in a folder for temporary files; `/tmp/../etc` is not, nor is the look-alike `/tmp-x`.
 */
export function isTemporary(path: string): boolean {
  const normal = normalizePath(path);
  return TEMPORARY.test(normal) && !normal.includes('..');
}

/** Returns whether a path is in a folder that tools create again, so that deleting it loses nothing. */
export function isRegenerable(path: string): boolean {
  return (REGENERABLE.test(path) || PACKAGE_CACHE.test(path)) && !path.includes('..');
}

/** Returns whether a path is the root, a home or a system folder as a whole. */
export function isWholeSystemPath(path: string): boolean {
  return WHOLE.test(normalizePath(path));
}

/** Returns whether a path is an account file, which holds no secret but lists users. */
export function isAccountPath(path: string): boolean {
  return /^\/etc\/(?:passwd-?|group|login\.defs|pam\.d(?:\/.*)?|security\/.*|shells|sudo\.conf)$/.test(path);
}

const LOGS =
  /^(?:\/var\/log(?:\/|$)|\/var\/(?:run\/utmp|adm\/)|\/run\/log|\/var\/audit|~\/Library\/Logs|\/Library\/Logs|\/var\/spool\/mail|\/var\/lib\/docker\/containers\/.*log)/;
const HISTORY =
  /(?:^|\/)(?:\.(?:bash|zsh|sh|ash|python|mysql|psql|node_repl|lesshst|wget-hsts)_?history|\.history|fish_history|ConsoleHost_history\.txt)(?:$|\*)|\$HISTFILE/;

/** Returns whether a path is a system log or a command history. */
export function isLogPath(path: string): boolean {
  const normal = normalizePath(path);
  return LOGS.test(normal) || HISTORY.test(normal);
}

const STARTUP =
  /(?:^|\/)(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|cshrc|tcshrc|kshrc|xinitrc|xprofile|vimrc|emacs|inputrc|gitconfig|pam_environment)|config\.fish|\.ssh\/(?:authorized_keys2?|rc|config)|authorized_keys2?|\.config\/autostart(?:\/.*)?|LaunchAgents\/?.*|LaunchDaemons\/?.*|StartupItems\/?.*|emond\.d\/.*|\.git\/hooks(?:\/.+)?|\.config\/systemd\/user(?:\/.*)?|sitecustomize\.py|usercustomize\.py|site-packages\/[\w.-]+\.pth|Preferences\/(?:ByHost\/)?com\.apple\.loginwindow[\w.-]*|\.config\/fish\/conf\.d\/.*|\.config\/plasma-workspace\/env\/.*|\.local\/share\/systemd\/user\/.*|\.(?:xsession|pythonrc(?:\.py)?|gdbinit|lldbinit|irbrc|pryrc|Rprofile|psqlrc|screenrc|tmux\.conf|hushlogin))$|^\/etc\/(?:profile(?:\.d\/.*)?|bash\.bashrc|zsh.*|environment|crontab|anacrontab|cron\.\w+\/?.*|rc\.?(?:local|common|d\/.*)|init\.d\/.*|systemd\/.*|ld\.so\.(?:preload|conf.*)|sudoers(?:\.d\/.*)?|pam\.d\/.*|pam\.conf|passwd|shadow|group|hosts|ssh\/.*|xdg\/autostart\/.*|udev\/rules\.d\/.*|modules(?:-load\.d\/.*)?|update-motd\.d\/.*|apt\/apt\.conf\.d\/.*|inittab|resolv\.conf|nsswitch\.conf|security\/.*|rsyslog.*|NetworkManager\/dispatcher\.d\/.*|dhcp\/dhclient-\w+-hooks\.d\/.*|bash_completion\.d\/.*|acpi\/.*|sudo\.conf|doas\.conf|X11\/xinit\/.*|rc\.common|audit\/.*|syslog.*|ufw\/.*)|^\/usr\/local\/etc\/sudoers|^\/var\/spool\/cron|^\/(?:usr\/)?lib\/systemd\/|\/Start Menu\/Programs\/Startup/i;

/** Returns whether a file decides what runs later, who can log in, or what is trusted. */
export function isStartupPath(path: string): boolean {
  return path.length < 400 && STARTUP.test(normalizePath(path));
}

/** Returns whether a file holds the accounts, the rights, the trusted keys or the libraries of the whole machine. */
export function isTakeoverPath(path: string): boolean {
  return /^\/etc\/(?:ld\.so\.preload|sudoers(?:\.d\/.*)?|passwd|shadow|pam\.d\/.*)$|^\/usr\/local\/etc\/sudoers|^\/root\/\.ssh\/authorized_keys/.test(
    path,
  );
}

/** Returns whether a path is in a folder that only an administrator writes: `/usr/bin`, `/etc/...`. */
export function isSystemPath(path: string): boolean {
  return /^\/(?:etc|usr|bin|sbin|lib|lib32|lib64|boot|System|Library|opt|var\/(?:lib|www|spool|log|run)|root|srv|sys|proc)(?:\/|$)|^\/$|^[a-z]:\/(?:windows|program files)/i.test(
    normalizePath(path),
  );
}

/** Returns whether a path is a disk or partition device. */
export function isDisk(path: string): boolean {
  return /^(?:\/dev\/(?:(?:x?v|s|h)d[a-z]|nvme|mmcblk|disk|rdisk|mapper|md|dm-|loop|mem|kmem|port)|\\\\\.\\PhysicalDrive)/i.test(
    path,
  );
}
