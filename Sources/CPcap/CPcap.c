// For the short names of types that pcap.h uses.
#define _DEFAULT_SOURCE

#include "CPcap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// Not linked: libpcap brings eight libraries along, whose loading is a fifth of the time in which a program starts that
// has no filter to compile.
static const char *const names[] = {
#ifdef __APPLE__
    "/usr/lib/libpcap.A.dylib",
#else
    "libpcap.so.0.8", "libpcap.so.1", "libpcap.so",
#endif
};

static struct cpcap_functions functions;
static bool is_loaded;

static bool find(void *library, const char *name, void *place) {
  void *symbol = dlsym(library, name);
  // POSIX has dlsym return functions as pointers to objects.
  *(void **)place = symbol;
  return symbol != NULL;
}

static void load(void) {
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  is_loaded = library != NULL && find(library, "pcap_open_dead", &functions.open_dead) &&
              find(library, "pcap_close", &functions.close) &&
              find(library, "pcap_compile", &functions.compile) &&
              find(library, "pcap_geterr", &functions.geterr) &&
              find(library, "pcap_freecode", &functions.freecode) &&
              find(library, "pcap_offline_filter", &functions.offline_filter);
}

const struct cpcap_functions *cpcap_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &functions : NULL;
}
