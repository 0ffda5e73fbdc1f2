/* Adds the nanoseconds in STEPPED_CLOCK_FILE to the wall clock of the process that preloads it. The
 * file is mapped, so that a step holds at once. Monotonic clocks stay. Waits until a time of the
 * wall clock, which Abseil asks of the kernel by syscall(), are moved back to the kernel's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kSecond = 1000000000 };

static volatile const int64_t* ahead;
static int (*real_clock_gettime)(clockid_t, struct timespec*);
static long (*real_syscall)(long, ...);

__attribute__((constructor)) static void Map(void) {
  *(void**)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  *(void**)&real_syscall = dlsym(RTLD_NEXT, "syscall");
  const char* name = getenv("STEPPED_CLOCK_FILE");
  const int fd = name != NULL ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* at = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (at != MAP_FAILED) ahead = at;
}

static int64_t Ahead(void) { return ahead != NULL ? *ahead : 0; }

static struct timespec Moved(struct timespec at, int64_t by) {
  const int64_t ns = (int64_t)at.tv_sec * kSecond + at.tv_nsec + by;
  at.tv_sec = ns / kSecond;
  at.tv_nsec = ns % kSecond;
  return at;
}

int clock_gettime(clockid_t clock, struct timespec* to) {
  if (real_clock_gettime == NULL) Map();
  const int failed = real_clock_gettime(clock, to);
  const int wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (failed == 0 && wall) *to = Moved(*to, Ahead());
  return failed;
}

int gettimeofday(struct timeval* to, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

long syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (real_syscall == NULL) Map();
  struct timespec until;
  if (number == SYS_futex && (a[1] & FUTEX_CLOCK_REALTIME) != 0 && a[3] != 0) {
    until = Moved(*(const struct timespec*)a[3], -Ahead());
    a[3] = (long)&until;
  }
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
