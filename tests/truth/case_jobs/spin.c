/* Native code of a user: burns or sleeps for so many microseconds. */
#include <time.h>
#include <unistd.h>

static long now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

volatile unsigned long sink;

void burn(long us) {
  const long end = now_us() + us;
  while (now_us() < end)
    for (int i = 0; i < 1000; ++i) sink += i;
}

void doze(long us) { usleep((useconds_t)us); }
