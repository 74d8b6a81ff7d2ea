#ifndef CCONFORMANCE_PREFETCH_H
#define CCONFORMANCE_PREFETCH_H

#include <stddef.h>

/// Asks the processor to have some bytes at hand that are read or written soon.
///
/// Nothing else comes of it: the address is not read.
static inline void conformance_prefetch(const void *address, size_t count) {
  for (size_t offset = 0; offset < count; offset += 64) {
    __builtin_prefetch((const char *)address + offset, 1, 3);
  }
}

#endif
