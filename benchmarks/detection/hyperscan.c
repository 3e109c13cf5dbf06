/* How fast Hyperscan finds patterns in texts: the baseline of speed.ts, which compiles and runs this.
 *
 * usage: hyperscan PATTERNS TEXT...
 * PATTERNS holds one pattern a line, `i` or `-` (either case or not), a space, and the expression. For every line
 * on standard input one round is run over each text, and one line is written: nanoseconds of CPU per byte (the best
 * of some slices) and the matches of one pass, for each text. The first line that is written counts the patterns in use. */
#include <hs/hs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATTERNS_MAX 20000
#define SLICES 4
#define BYTES_PER_SLICE (1 << 20)

static char *read_all(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) { perror(path); exit(2); }
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (bytes == NULL || fread(bytes, 1, *length, file) != *length) { perror(path); exit(2); }
  bytes[*length] = 0;
  fclose(file);
  return bytes;
}

static int count_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context) {
  (void)id; (void)from; (void)to; (void)flags;
  ++*(unsigned long *)context;
  return 0;
}

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
  static const char *expressions[PATTERNS_MAX];
  static unsigned flags[PATTERNS_MAX], ids[PATTERNS_MAX];
  unsigned count = 0;
  size_t length;
  if (argc < 3) { fputs("usage: hyperscan PATTERNS TEXT...\n", stderr); return 2; }
  for (char *line = strtok(read_all(argv[1], &length), "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (count == PATTERNS_MAX) { fputs("too many patterns\n", stderr); return 2; }
    flags[count] = line[0] == 'i' ? HS_FLAG_CASELESS : 0;
    ids[count] = count;
    expressions[count++] = line + 2;
  }
  hs_database_t *database;
  hs_compile_error_t *error;
  if (hs_compile_multi(expressions, flags, ids, count, HS_MODE_BLOCK, NULL, &database, &error) != HS_SUCCESS) {
    fprintf(stderr, "pattern %d (%s): %s\n", error->expression,
            error->expression < 0 ? "" : expressions[error->expression], error->message);
    return 1;
  }
  hs_scratch_t *scratch = NULL;
  if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS) return 1;
  printf("%u\n", count);
  fflush(stdout);
  char asked[16];
  while (fgets(asked, sizeof asked, stdin) != NULL) {
    for (int at = 2; at < argc; at++) {
      char *text = read_all(argv[at], &length);
      unsigned long times = BYTES_PER_SLICE / length, matches;
      double best_ns = 1e18;
      if (times == 0) times = 1;
      for (int slice = 0; slice < SLICES; slice++) {
        double began = cpu_ns();
        matches = 0;
        for (unsigned long time = 0; time < times; time++)
          if (hs_scan(database, text, (unsigned)length, 0, scratch, count_match, &matches) != HS_SUCCESS) return 1;
        double took_ns = cpu_ns() - began;
        if (took_ns < best_ns) best_ns = took_ns;
      }
      printf("%.4f %lu ", best_ns / ((double)times * length), matches / times);
      free(text);
    }
    printf("\n");
    fflush(stdout);
  }
  return 0;
}
