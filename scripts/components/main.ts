/** `scripts/run scripts/components/main.ts [name ...]`: installs components; without names, all of them. */
import { components, ensureComponents } from './components.ts';

const names = process.argv.slice(2);
const wanted = names.length > 0 ? names : components.map((each) => each.name);
const missing = ensureComponents(wanted, (line) => console.error(line));
for (const name of wanted) console.log(`${missing.includes(name) ? 'missing' : 'there  '} ${name}`);
process.exitCode = missing.length === 0 ? 0 : 1;
