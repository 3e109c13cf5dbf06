/** Labels are few: a name that callers choose is one of this many first ones, or `other`. */
export function limitNames(most: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= most || !PLAIN.test(name)) return OTHER;
    known.add(name);
    return name;
  };
}

/** The name of a model, of an answer, of a reason, where it is one; a text that stands in its place is `other`. */
export function sanitizeName(name: string): string {
  return PLAIN.test(name) ? name : OTHER;
}

const PLAIN = /^[\w./:@+-]{1,128}$/;
const OTHER = 'other';
