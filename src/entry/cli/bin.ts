#!/usr/bin/env node
// The published command. Plain syntax and no import before the check, so that an old Node can still print which version
// to install.
const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) {
  const words = process.argv.slice(2);
  // A coding agent waits for its hook before every tool call, so the built hook is a file of its own. If it cannot be
  // loaded, the call is denied.
  if (words[0] === 'hook' && !words.includes('--help') && !words.includes('-h')) {
    const hook = new URL(
      import.meta.url.endsWith('.ts') ? '../hook/main.ts' : '../hook/main.cjs',
      import.meta.url,
    );
    import(hook.href).catch(() => {
      process.stderr.write('The hook could not be loaded, so it is refused.\n');
      process.exitCode = 2;
    });
  } else {
    import('./main.ts');
  }
} else {
  process.stderr.write(
    `error: this program needs Node ${NODE_MAJOR_MIN} or later, and this is Node ${process.versions.node}.\n` +
      `Install Node ${NODE_MAJOR_MIN} from https://nodejs.org, or run it with one from npm:\n` +
      `  npx -y node@${NODE_MAJOR_MIN} ${process.argv[1]}\n`,
  );
  process.exitCode = 2;
}
