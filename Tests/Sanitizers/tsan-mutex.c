// Tells ThreadSanitizer of the slow path of Swift's Mutex.
//
// The fast path is compiled into whoever uses a Mutex, and so is seen; where two threads meet, the library
// libswiftSynchronization does the rest with atomics that are not instrumented, and what the lock orders looks
// unordered. These functions are found before the library's: each calls it and says what it did. The names are
// those of `_MutexHandle._lockSlow(_:)`, `_tryLockSlow()` and `_unlockSlow()`.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Not there in programs without the sanitizer, which inherit this library.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

typedef SWIFT void (*Lock)(uint32_t thread, SELF);
typedef SWIFT bool (*TryLock)(SELF);
typedef SWIFT void (*Unlock)(SELF);

static void acquired(void *mutex) {
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void lockSlow(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void lockSlow(uint32_t thread, SELF) {
  ((Lock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"))(thread, self);
  acquired(self);
}

SWIFT bool tryLockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT bool tryLockSlow(SELF) {
  bool isLocked = ((TryLock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"))(self);
  if (isLocked) acquired(self);
  return isLocked;
}

SWIFT void unlockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT void unlockSlow(SELF) {
  if (__tsan_release) __tsan_release(self);
  ((Unlock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"))(self);
}
