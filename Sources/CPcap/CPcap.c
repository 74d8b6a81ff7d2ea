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
  const struct {
    const char *name;
    void *place;
  } wanted[] = {
      {"pcap_open_dead", &functions.open_dead},
      {"pcap_close", &functions.close},
      {"pcap_compile", &functions.compile},
      {"pcap_geterr", &functions.geterr},
      {"pcap_freecode", &functions.freecode},
      {"pcap_offline_filter", &functions.offline_filter},
      {"pcap_findalldevs", &functions.findalldevs},
      {"pcap_freealldevs", &functions.freealldevs},
      {"pcap_create", &functions.create},
      {"pcap_set_snaplen", &functions.set_snaplen},
      {"pcap_set_promisc", &functions.set_promisc},
      {"pcap_set_timeout", &functions.set_timeout},
      {"pcap_set_buffer_size", &functions.set_buffer_size},
      {"pcap_set_tstamp_precision", &functions.set_tstamp_precision},
      {"pcap_get_tstamp_precision", &functions.get_tstamp_precision},
      {"pcap_activate", &functions.activate},
      {"pcap_statustostr", &functions.statustostr},
      {"pcap_datalink", &functions.datalink},
      {"pcap_snapshot", &functions.snapshot},
      {"pcap_setnonblock", &functions.setnonblock},
      {"pcap_setfilter", &functions.setfilter},
      {"pcap_get_selectable_fd", &functions.get_selectable_fd},
      {"pcap_dispatch", &functions.dispatch},
      {"pcap_stats", &functions.stats},
      {"pcap_lib_version", &functions.lib_version},
  };
  is_loaded = library != NULL;
  for (size_t i = 0; is_loaded && i < sizeof wanted / sizeof *wanted; i++) {
    is_loaded = find(library, wanted[i].name, wanted[i].place);
  }
}

const struct cpcap_functions *cpcap_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &functions : NULL;
}
