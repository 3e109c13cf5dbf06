/** `scripts/run scripts/components/main.ts [name ...]`: installs components; without names, all that `npm test` needs. */
import { components, ensureComponents } from './components.ts';

const names = process.argv.slice(2);
const wanted =
  names.length > 0 ? names : components.filter((each) => each.is_on_demand !== true).map((each) => each.name);
const missing = ensureComponents(wanted, (line) => console.error(line));
for (const name of wanted) console.log(`${missing.includes(name) ? 'missing' : 'there  '} ${name}`);
process.exitCode = missing.length === 0 ? 0 : 1;
